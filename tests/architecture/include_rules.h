#pragma once

#include <QString>
#include <functional>
#include <vector>

#include "tests/architecture/rule_table.h"

namespace firsttoken::tests {

/// A file of the tree: path from the project's root, with / between its parts.
struct SourceFile {
    QString path;
    QString text;
};

struct Violation {
    QString path;
    int line = 0;  ///< from 1; 0: the whole file
    QString what;

    QString toString() const { return QStringLiteral("%1:%2: %3").arg(path).arg(line).arg(what); }
};

struct Include {
    QString name;
    bool quoted = false;  ///< "name", else <name>
    int line = 0;
};

/// The #include lines of a file.
std::vector<Include> includesOf(const SourceFile& file);

/// What the includes of `file` break. `exists` says whether a path is a file of the tree: a quoted include names
/// one from the project's root (moc files apart).
std::vector<Violation> checkIncludes(const SourceFile& file, const RuleTable& table,
                                     const std::function<bool(const QString&)>& exists);

/// Folders of the table's room rules that reach themselves through what they may include; empty if there is an order.
QStringList cyclesOf(const RuleTable& table);

}  // namespace firsttoken::tests
