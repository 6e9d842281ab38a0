#pragma once

#include <QString>
#include <QStringList>
#include <string>
#include <utility>
#include <vector>

namespace firsttoken::tests {

struct XmlElement {
    QString name;
    std::vector<std::pair<QString, QString>> attributes;
    QString text;  ///< all of it, that of the elements within too
    int depth = 0;

    QString attribute(const QString& key) const;
    bool hasClass(const QString& name) const;
};

/// The elements of a document in order, as an XML parser sees them.
struct XmlDocument {
    std::vector<XmlElement> elements;
    QString error;  ///< empty: well formed

    std::vector<XmlElement> named(const QString& name) const;
    std::vector<XmlElement> withClass(const QString& name) const;
    const XmlElement* first(const QString& name) const;
};
XmlDocument parseXml(const std::string& text);

}  // namespace firsttoken::tests
