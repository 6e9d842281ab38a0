#include "tests/architecture/tree_rules.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <algorithm>
#include <functional>

namespace firsttoken::tests {
namespace {

const QStringList kSourceEndings = {".h", ".cpp", ".cu", ".cuh"};
const QStringList kTextEndings = {".txt",  ".cmake", ".json", ".md",  ".sh", ".py",
                                  ".yaml", ".yml",   ".in",   ".svg", ".xml"};

bool endsWithAny(const QString& path, const QStringList& endings) {
    return std::any_of(endings.begin(), endings.end(), [&](const QString& e) { return path.endsWith(e); });
}

/// Vendored text (the licence) and text that tests read as data are not ours to judge.
bool isData(const QString& path) { return path == u"LICENSE" || path.startsWith(QStringLiteral("tests/fixtures/")); }

std::vector<SourceFile> filesBelow(const QString& root, const std::function<bool(const QString&)>& wanted) {
    std::vector<SourceFile> files;
    const QDir base(root);
    QStringList folders = base.entryList(QDir::Dirs | QDir::Hidden | QDir::NoDotAndDotDot);
    folders.removeIf(
        [](const QString& name) { return name == u".git" || name == u".cache" || name.startsWith(u"build"); });
    const auto take = [&](const QString& path) {
        const QString relative = base.relativeFilePath(path);
        if (isData(relative) || !wanted(relative)) return;
        QFile file(path);
        if (file.open(QIODevice::ReadOnly)) files.push_back({relative, QString::fromUtf8(file.readAll())});
    };
    for (const auto& name : base.entryList(QDir::Files | QDir::Hidden)) take(base.filePath(name));
    for (const auto& folder : folders) {
        QDirIterator walk(base.filePath(folder), QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
        while (walk.hasNext()) take(walk.next());
    }
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return files;
}

/// One violation for each line that matches.
std::vector<Violation> linesThatMatch(const SourceFile& file, const QRegularExpression& pattern, const QString& what) {
    std::vector<Violation> violations;
    int line = 0;
    for (const auto& text : file.text.split(u'\n')) {
        ++line;
        if (const auto match = pattern.match(text); match.hasMatch()) {
            violations.push_back({file.path, line, what.arg(match.captured(0).trimmed())});
        }
    }
    return violations;
}

}  // namespace

std::vector<SourceFile> sourcesBelow(const QString& root) {
    return filesBelow(root, [](const QString& path) { return endsWithAny(path, kSourceEndings); });
}

std::vector<SourceFile> textsBelow(const QString& root) {
    return filesBelow(root, [](const QString& path) {
        const QString name = path.mid(path.lastIndexOf(u'/') + 1);
        return endsWithAny(path, kSourceEndings) || endsWithAny(path, kTextEndings) || !name.contains(u'.');
    });
}

std::vector<Violation> checkShape(const SourceFile& file) {
    std::vector<Violation> violations;
    const auto lines = file.text.count(u'\n');
    if (lines > kMostLines) {
        violations.push_back({file.path, 0, QStringLiteral("%1 lines, %2 are the most").arg(lines).arg(kMostLines)});
    }
    if (file.path.endsWith(QStringLiteral(".h")) && !file.text.contains(QStringLiteral("#pragma once"))) {
        violations.push_back({file.path, 0, QStringLiteral("a header without #pragma once")});
    }
    return violations;
}

std::vector<Violation> checkWords(const SourceFile& file) {
    // Written in parts, so that this file does not find itself.
    static const QRegularExpression unfinished(QStringLiteral(R"(\b(TO)"
                                                              R"(DO|FIX)"
                                                              R"(ME|XX)"
                                                              R"(X|HA)"
                                                              R"(CK)\b)"));
    static const QRegularExpression machine(QStringLiteral(R"((^|[\s"'(=:])/(wo)"
                                                           R"(rk|fa)"
                                                           R"(rm|ro)"
                                                           R"(ot|ho)"
                                                           R"(me)/[\w.]+)"));
    auto violations = linesThatMatch(file, unfinished, QStringLiteral("unfinished: %1"));
    const auto paths = linesThatMatch(file, machine, QStringLiteral("a path of one machine: %1"));
    violations.insert(violations.end(), paths.begin(), paths.end());
    return violations;
}

std::vector<Violation> checkMachineFiles(const SourceFile& file) {
    static const QRegularExpression quoted(QStringLiteral(R"("/(proc|sys)(/[^"]*)?")"));
    const bool product =
        QStringList{"engine/", "sessions/", "ui/", "app/"}.contains(file.path.left(file.path.indexOf(u'/') + 1));
    if (!product || file.path.startsWith(QStringLiteral("engine/observe/"))) return {};
    return linesThatMatch(file, quoted, QStringLiteral("%1: only engine/observe reads it"));
}

std::vector<Violation> checkPublicLibraries(const SourceFile& cmake) {
    static const QRegularExpression call(QStringLiteral(R"(firsttoken_add_room\(([^)]*)\))"));
    static const QRegularExpression separators(QStringLiteral(R"(\s+)"));
    static const QStringList keywords = {"SOURCES", "PUBLIC", "PRIVATE"};
    std::vector<Violation> violations;
    if (!cmake.path.startsWith(QStringLiteral("engine/")) && !cmake.path.startsWith(QStringLiteral("sessions/")))
        return {};
    auto calls = call.globalMatch(cmake.text);
    while (calls.hasNext()) {
        const auto match = calls.next();
        const int line = static_cast<int>(cmake.text.left(match.capturedStart()).count(u'\n')) + 1;
        bool isPublic = false;
        for (const auto& word : match.captured(1).split(separators, Qt::SkipEmptyParts)) {
            if (keywords.contains(word)) {
                isPublic = word == u"PUBLIC";
            } else if (isPublic && !word.startsWith(QStringLiteral("engine_")) &&
                       !word.startsWith(QStringLiteral("sessions_")) &&
                       !word.startsWith(QStringLiteral("firsttoken_"))) {
                violations.push_back({cmake.path, line, QStringLiteral("%1 is linked PUBLIC").arg(word)});
            }
        }
    }
    return violations;
}

}  // namespace firsttoken::tests
