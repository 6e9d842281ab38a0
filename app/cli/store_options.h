#pragma once

#include <memory>
#include <string>

#include "app/cli/program.h"
#include "engine/result.h"
#include "sessions/session_store.h"

namespace firsttoken::app {

/// The database of --db, else the default one; created where absent.
engine::Result<std::unique_ptr<sessions::SessionStore>> openStore(const std::string& database);

/// The same for a command that cannot do without: on an error the sentence has been printed and `code` set.
std::unique_ptr<sessions::SessionStore> requireStore(Console& console, const std::string& database, int& code);

}  // namespace firsttoken::app
