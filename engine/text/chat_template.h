#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/text.h"
#include "engine/text/jinja/template.h"

namespace firsttoken::engine {

/// The template of models that have none: "User: …", "Assistant: …", one turn after the other.
std::string_view plainTranscriptTemplate();
/// What ends an answer in the plain transcript.
std::vector<std::string> plainTranscriptStops();

/// The variables of a render from JSON. Errors: BadInput for anything but a JSON object.
Result<jinja::Dict> variablesFromJson(std::string_view json);
/// The variables of a conversation that the assistant is to answer.
jinja::Dict variablesFromMessages(std::span<const ChatMessage> messages);

/// YYYY-MM-DD; empty: today, local time. Errors: BadInput for what is no date.
Result<jinja::Date> parseDate(std::string_view text);

/// Renders, and cuts the text into stretches that the template and that people wrote.
Result<std::vector<RenderedPiece>> renderPieces(const jinja::Template& chatTemplate, const jinja::Dict& variables,
                                                jinja::Date now);

}  // namespace firsttoken::engine
