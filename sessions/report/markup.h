#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firsttoken::sessions {

/// Text of any origin as it may stand in HTML and in attributes: & < > " ' become references, bytes that are no UTF-8
/// become U+FFFD, control characters other than tab and line feed are dropped, as are the non-characters.
std::string escaped(std::string_view text);
/// The first `characters` of a text, with … where more followed. Never cuts within a character.
std::string shortened(std::string_view text, std::size_t characters);

/// Writes HTML that an XML parser accepts too. Text and attribute values are escaped here and nowhere else.
class Markup {
public:
    using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    Markup& open(std::string_view name, Attributes attributes = {});
    /// Closes the element that was opened last.
    Markup& close();
    /// An element without content: only for those that HTML lets have none, and for SVG's.
    Markup& leaf(std::string_view name, Attributes attributes = {});
    Markup& text(std::string_view text);
    /// An element that holds only text.
    Markup& element(std::string_view name, std::string_view text, Attributes attributes = {});
    /// Text of our own that needs no escapes: the style sheet.
    Markup& verbatim(std::string_view text);

    /// The text so far; everything that was opened must be closed.
    std::string take();

private:
    void start(std::string_view name, Attributes attributes);

    std::string m_text;
    std::vector<std::string> m_open;
};

}  // namespace firsttoken::sessions
