#include <QFileInfo>
#include <QtTest>

#include "tests/architecture/include_rules.h"
#include "tests/architecture/tree_rules.h"
#include "tests/support/test_registry.h"

namespace firsttoken::tests {
namespace {

const QString kRoot = QStringLiteral(FIRSTTOKEN_SOURCE_DIR);

bool existsInTree(const QString& path) {
    return !path.contains(QStringLiteral("..")) && QFileInfo(kRoot + u'/' + path).isFile();
}

QString listed(const std::vector<Violation>& violations) {
    QStringList lines;
    for (const auto& violation : violations) lines.append(violation.toString());
    return lines.join(u'\n');
}

/// Applies one check to every file and prints all that it finds. Returns how much that is.
template <class Check>
int findings(const std::vector<SourceFile>& files, const Check& check) {
    int count = 0;
    for (const auto& file : files) {
        const auto found = check(file);
        count += static_cast<int>(found.size());
        if (!found.empty()) qWarning("%s", qPrintable(listed(found)));
    }
    return count;
}

}  // namespace

class TestArchitecture : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        m_sources = sourcesBelow(kRoot);
        m_texts = textsBelow(kRoot);
        QVERIFY2(m_sources.size() > 20, "the tree's sources are not where the test looks for them");
    }

    void includesFollowTheTable() {
        const auto table = firsttokenRules();
        const auto check = [&](const SourceFile& file) { return checkIncludes(file, table, existsInTree); };
        QCOMPARE(findings(m_sources, check), 0);
    }
    void filesKeepTheirShape() { QCOMPARE(findings(m_sources, checkShape), 0); }
    void nothingIsUnfinishedOrOfOneMachine() { QCOMPARE(findings(m_texts, checkWords), 0); }
    void onlyObserveReadsMachineFiles() { QCOMPARE(findings(m_sources, checkMachineFiles), 0); }
    void librariesStayPrivate() {
        std::vector<SourceFile> cmakes;
        for (const auto& file : m_texts) {
            if (file.path.endsWith(QStringLiteral("CMakeLists.txt"))) cmakes.push_back(file);
        }
        QVERIFY(!cmakes.empty());
        QCOMPARE(findings(cmakes, checkPublicLibraries), 0);
    }
    void roomsHaveAnOrder() { QCOMPARE(cyclesOf(firsttokenRules()), QStringList()); }

    // --- the checks themselves -----------------------------------------------------------------------------

    void plantedIncludes_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("include");
        QTest::addColumn<bool>("allowed");
        const auto row = [](const char* path, const char* include, bool allowed) {
            QTest::addRow("%s: %s", path, include) << QString(path) << QString(include) << allowed;
        };
        row("engine/tensor/pack.cpp", "\"engine/tensor/format.h\"", true);
        row("engine/tensor/pack.cpp", "\"engine/model/plan.h\"", false);
        row("engine/model/families/llama.cpp", "\"engine/tensor/format.h\"", true);
        row("engine/model/families/llama.cpp", "\"engine/compute/backend.h\"", false);
        row("engine/compute/cpu/step.cpp", "\"engine/model/plan.h\"", true);
        row("engine/compute/cpu/step.cpp", "\"engine/model/model.h\"", false);
        row("engine/core/loop.cpp", "\"engine/compute/backend.h\"", true);
        row("engine/core/loop.cpp", "\"tests/support/test_registry.h\"", false);
        row("engine/engine.h", "\"engine/text.h\"", true);
        row("engine/engine.h", "\"engine/model/plan.h\"", false);
        row("engine/sample/sampler.cpp", "\"engine/engine.h\"", false);
        row("sessions/load/load.cpp", "\"engine/engine.h\"", true);
        row("sessions/load/load.cpp", "\"engine/compute/backend.h\"", false);
        row("ui/charts/chart.cpp", "\"engine/events.h\"", true);
        row("ui/charts/chart.cpp", "\"engine/observe/event_ring.h\"", false);
        row("app/cli/main.cpp", "\"engine/model/model.h\"", false);
        row("tests/engine/model/test_model.cpp", "\"engine/model/model.h\"", true);
        row("tests/sessions/test_load.cpp", "\"engine/model/model.h\"", false);
        row("nowhere/file.cpp", "\"engine/engine.h\"", false);
        row("engine/model/file.cpp", "\"model.h\"", false);
        row("engine/model/file.cpp", "\"../tensor/format.h\"", false);
        row("tests/engine/model/test_model.cpp", "\"test_model.moc\"", true);
        row("engine/text/bpe.cpp", "HEADER_NAME", false);
        row("engine/text/bpe.cpp", "<vector>", true);
        row("engine/text/bpe.cpp", "<QString>", false);
        row("sessions/store/store.cpp", "<QtSql>", false);
        row("ui/text/numbers.cpp", "<QLocale>", true);
        row("app/cli/main.cpp", "<QCoreApplication>", false);
        row("sessions/store/store.cpp", "<sqlite3.h>", true);
        row("ui/history/history.cpp", "<sqlite3.h>", false);
        row("engine/profile/parse.cpp", "<yaml-cpp/yaml.h>", true);
        row("engine/profile.h", "<yaml-cpp/yaml.h>", false);
        row("sessions/models/download.cpp", "<curl/curl.h>", true);
        row("engine/core/loop.cpp", "<curl/curl.h>", false);
        row("engine/text/bpe.cpp", "<regex>", false);
        row("app/cli/main.cpp", "<regex>", false);
        row("engine/cache/pool.cpp", "<ranges>", false);
        row("sessions/compare/compare.cpp", "<ranges>", true);
        row("engine/text/bpe.cpp", "<unknown/library.h>", false);
        row("engine/text/bpe.cpp", "<sys/mman.h>", false);
        row("engine/model/map.cpp", "<sys/mman.h>", true);
    }
    void plantedIncludes() {
        QFETCH(QString, path);
        QFETCH(QString, include);
        QFETCH(bool, allowed);
        const SourceFile planted{path, QStringLiteral("// first line\n  #  include ") + include + u'\n'};
        const auto found = checkIncludes(planted, firsttokenRules(), existsInTree);
        QVERIFY2(found.empty() == allowed, qPrintable(listed(found)));
        if (!allowed) {
            QCOMPARE(found.size(), std::size_t{1});
            QCOMPARE(found.front().line, 2);
        }
    }

    void plantedCycle() {
        RuleTable table;
        table.rooms = {{"a/", {"b/"}}, {"b/", {"c/part.h"}}, {"c/", {"a/"}}, {"d/", {"a/"}}};
        QCOMPARE(cyclesOf(table), (QStringList{"a/", "b/", "c/"}));
    }

    void plantedTexts() {
        const QString name = QStringLiteral("engine/text/planted.cpp");
        const QString word = QStringLiteral("TO") + QStringLiteral("DO");
        QCOMPARE(checkWords({name, "int a;\n// " + word + " later\n"}).size(), std::size_t{1});
        QCOMPARE(checkWords({name, "// " + word + "S and " + word.toLower() + "\n"}).size(), std::size_t{0});
        QCOMPARE(checkWords({name, QStringLiteral("open(\"/ho") + QStringLiteral("me/someone/x\");\n")}).size(),
                 std::size_t{1});
        QCOMPARE(checkWords({name, QStringLiteral("a/wo") + QStringLiteral("rk/b\n")}).size(), std::size_t{0});

        QCOMPARE(checkShape({"a.h", "#pragma once\n"}).size(), std::size_t{0});
        QCOMPARE(checkShape({"a.h", "int a;\n"}).size(), std::size_t{1});
        QCOMPARE(checkShape({"a.cpp", QString(kMostLines, u'\n')}).size(), std::size_t{0});
        QCOMPARE(checkShape({"a.cpp", QString(kMostLines + 1, u'\n')}).size(), std::size_t{1});

        const QString reads = QStringLiteral("open(\"/pro") + QStringLiteral("c/meminfo\");\n");
        QCOMPARE(checkMachineFiles({"engine/core/a.cpp", reads}).size(), std::size_t{1});
        QCOMPARE(checkMachineFiles({"engine/observe/a.cpp", reads}).size(), std::size_t{0});
    }

    void plantedPublicLibrary() {
        const QString kept =
            QStringLiteral("firsttoken_add_room(engine_a SOURCES a.cpp PUBLIC engine_b PRIVATE fmt::fmt)");
        const QString leaked =
            QStringLiteral("\nfirsttoken_add_room(engine_a SOURCES a.cpp\n  PUBLIC engine_b fmt::fmt)");
        QCOMPARE(checkPublicLibraries({"engine/a/CMakeLists.txt", kept}).size(), std::size_t{0});
        const auto found = checkPublicLibraries({"engine/a/CMakeLists.txt", leaked});
        QCOMPARE(found.size(), std::size_t{1});
        QCOMPARE(found.front().line, 2);
    }

private:
    std::vector<SourceFile> m_sources;
    std::vector<SourceFile> m_texts;
};

FIRSTTOKEN_TEST_CLASS(TestArchitecture);

}  // namespace firsttoken::tests

#include "test_architecture.moc"
