#include "tests/architecture/include_rules.h"

#include <QRegularExpression>
#include <QSet>
#include <algorithm>

namespace firsttoken::tests {
namespace {

QString folderOf(const QString& path) { return path.left(path.lastIndexOf(u'/') + 1); }

bool matches(const QString& path, const QString& pattern) {
    if (pattern.endsWith(u'/')) return path.startsWith(pattern);
    if (pattern.endsWith(QStringLiteral("/*.h"))) {
        return path.endsWith(QStringLiteral(".h")) && folderOf(path) == folderOf(pattern);
    }
    return path == pattern;
}

bool matchesAny(const QString& path, const QStringList& patterns) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const QString& p) { return matches(path, p); });
}

bool startsWithAny(const QString& text, const QStringList& beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(), [&](const QString& b) { return text.startsWith(b); });
}

const RoomRule* roomOf(const QString& path, const RuleTable& table) {
    const RoomRule* best = nullptr;
    for (const auto& rule : table.rooms) {
        if (path.startsWith(rule.folder) && (best == nullptr || rule.folder.size() > best->folder.size())) best = &rule;
    }
    return best;
}

/// Headers directly in engine/ and sessions/ are doors: other rooms compile them without the room's libraries.
bool isDoor(const QString& path) {
    return matchesAny(path, {QStringLiteral("engine/*.h"), QStringLiteral("sessions/*.h")});
}

bool isStandard(const QString& name) {
    static const QStringList cHeaders = {"assert.h", "errno.h",  "float.h", "limits.h", "math.h",
                                         "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h"};
    return (!name.contains(u'.') && !name.contains(u'/') && name == name.toLower()) || cHeaders.contains(name);
}

/// Empty if the quoted include is allowed, else what is wrong with it.
QString refuseOwn(const SourceFile& file, const QString& name, const RuleTable& table,
                  const std::function<bool(const QString&)>& exists) {
    const bool isMoc = name.endsWith(QStringLiteral(".moc")) && !name.contains(u'/');
    if (isMoc) return {};
    if (!exists(name)) return QStringLiteral("\"%1\" is no file from the project's root").arg(name);
    const RoomRule* room = roomOf(file.path, table);
    if (room == nullptr) return QStringLiteral("no rule for this folder");
    // A noun's files lie below its folder; engine/ and tests/ themselves own only what lies directly in them.
    const bool own = roomOf(name, table) == room || (room->folder == u"engine/" && matches(name, "engine/*.h"));
    if (own || matchesAny(name, room->mayInclude)) return {};
    return QStringLiteral("%1 may not include \"%2\"").arg(room->folder, name);
}

QString refuseForeign(const SourceFile& file, const QString& name, const RuleTable& table) {
    for (const auto& forbidden : table.forbidden) {
        if (name == forbidden.header && file.path.startsWith(forbidden.folder)) {
            return QStringLiteral("<%1> is not used here: %2").arg(name, forbidden.why);
        }
    }
    if (isStandard(name)) return {};
    for (const auto& library : table.libraries) {
        if (!startsWithAny(name, library.headers)) continue;
        if (isDoor(file.path)) return QStringLiteral("a public header may not need %1 (<%2>)").arg(library.name, name);
        if (startsWithAny(file.path, library.folders)) return {};
        return QStringLiteral("%1 (<%2>) is only for %3")
            .arg(library.name, name, library.folders.join(QStringLiteral(", ")));
    }
    return QStringLiteral("<%1> belongs to no library of the rule table").arg(name);
}

}  // namespace

std::vector<Include> includesOf(const SourceFile& file) {
    static const QRegularExpression directive(QStringLiteral(R"(^\s*#\s*include(?:_next)?\s*(["<])([^">]*)[">])"));
    static const QRegularExpression computed(QStringLiteral(R"(^\s*#\s*include(?:_next)?\s+([^"<\s].*)$)"));
    std::vector<Include> includes;
    int line = 0;
    for (const auto& text : file.text.split(u'\n')) {
        ++line;
        if (const auto match = directive.match(text); match.hasMatch()) {
            includes.push_back({match.captured(2), match.captured(1) == u"\"", line});
        } else if (const auto macro = computed.match(text); macro.hasMatch()) {
            includes.push_back({macro.captured(1), true, line});
        }
    }
    return includes;
}

std::vector<Violation> checkIncludes(const SourceFile& file, const RuleTable& table,
                                     const std::function<bool(const QString&)>& exists) {
    std::vector<Violation> violations;
    for (const auto& include : includesOf(file)) {
        const QString refused =
            include.quoted ? refuseOwn(file, include.name, table, exists) : refuseForeign(file, include.name, table);
        if (!refused.isEmpty()) violations.push_back({file.path, include.line, refused});
    }
    return violations;
}

QStringList cyclesOf(const RuleTable& table) {
    // Edges between folders only: a rule that may include single public headers or files depends on no folder, except
    // a file that lies in another room's folder.
    const auto reaches = [&](const RoomRule& from) {
        std::vector<const RoomRule*> next;
        for (const auto& pattern : from.mayInclude) {
            const RoomRule* to = roomOf(pattern, table);
            if (to != nullptr && to != &from) next.push_back(to);
        }
        return next;
    };
    QStringList cycles;
    for (const auto& start : table.rooms) {
        QSet<QString> seen;
        std::vector<const RoomRule*> open = reaches(start);
        while (!open.empty()) {
            const RoomRule* room = open.back();
            open.pop_back();
            if (room == &start) {
                cycles.append(start.folder);
                break;
            }
            if (seen.contains(room->folder)) continue;
            seen.insert(room->folder);
            for (const RoomRule* further : reaches(*room)) open.push_back(further);
        }
    }
    return cycles;
}

}  // namespace firsttoken::tests
