#include "app/cli/store_options.h"

namespace firsttoken::app {

engine::Result<std::unique_ptr<sessions::SessionStore>> openStore(const std::string& database) {
    sessions::SessionStore::Options options;
    options.path = database.empty() ? sessions::defaultDatabasePath() : database;
    return sessions::SessionStore::open(options);
}

std::unique_ptr<sessions::SessionStore> requireStore(Console& console, const std::string& database, int& code) {
    auto store = openStore(database);
    if (store) return std::move(store).value();
    code = console.fail(store.error(), "Another database can be named with --db FILE");
    return nullptr;
}

}  // namespace firsttoken::app
