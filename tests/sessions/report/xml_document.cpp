#include "tests/sessions/report/xml_document.h"

#include <QXmlStreamReader>

namespace firsttoken::tests {

QString XmlElement::attribute(const QString& key) const {
    for (const auto& [itsName, value] : attributes) {
        if (itsName == key) return value;
    }
    return {};
}

bool XmlElement::hasClass(const QString& wanted) const {
    return attribute("class").split(' ', Qt::SkipEmptyParts).contains(wanted);
}

std::vector<XmlElement> XmlDocument::named(const QString& name) const {
    std::vector<XmlElement> found;
    for (const XmlElement& element : elements) {
        if (element.name == name) found.push_back(element);
    }
    return found;
}

std::vector<XmlElement> XmlDocument::withClass(const QString& name) const {
    std::vector<XmlElement> found;
    for (const XmlElement& element : elements) {
        if (element.hasClass(name)) found.push_back(element);
    }
    return found;
}

const XmlElement* XmlDocument::first(const QString& name) const {
    for (const XmlElement& element : elements) {
        if (element.name == name) return &element;
    }
    return nullptr;
}

XmlDocument parseXml(const std::string& text) {
    XmlDocument document;
    QXmlStreamReader reader(QByteArray::fromStdString(text));
    std::vector<std::size_t> open;
    while (!reader.atEnd()) {
        reader.readNext();
        if (reader.isStartElement()) {
            XmlElement element;
            element.name = reader.name().toString();
            element.depth = static_cast<int>(open.size());
            for (const auto& attribute : reader.attributes()) {
                element.attributes.emplace_back(attribute.name().toString(), attribute.value().toString());
            }
            open.push_back(document.elements.size());
            document.elements.push_back(std::move(element));
        } else if (reader.isEndElement()) {
            open.pop_back();
        } else if (reader.isCharacters()) {
            for (const std::size_t at : open) {
                if (at > 1) document.elements[at].text += reader.text();  // not the whole document's, twice
            }
        }
    }
    if (reader.hasError()) {
        document.error = QString("%1 at line %2, column %3")
                             .arg(reader.errorString())
                             .arg(reader.lineNumber())
                             .arg(reader.columnNumber());
    }
    return document;
}

}  // namespace firsttoken::tests
