#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <fstream>

#include "engine/observe/cgroup.h"
#include "engine/observe/proc_files.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
namespace fs = std::filesystem;

class TestCgroup : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    fs::path m_root;

    void write(const std::string& path, const std::string& text) {
        fs::create_directories((m_root / path).parent_path());
        std::ofstream(m_root / path) << text;
    }

private slots:
    void init() {
        m_root = fs::path(m_folder.path().toStdString()) / QTest::currentTestFunction();
        fs::create_directories(m_root);
    }

    void nothingThere() {
        QVERIFY(!engine::cgroupMemory(m_root));
        QVERIFY(!engine::cgroupProcessors(m_root));
    }

    void versionTwoTakesTheTightestGroup() {
        write("proc/self/cgroup", "0::/a/b\n");
        write("sys/fs/cgroup/a/b/memory.max", "max\n");
        write("sys/fs/cgroup/a/memory.max", "1000000\n");
        write("sys/fs/cgroup/a/memory.current", "900000\n");
        write("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 300000\nactive_file 100000\nshmem 5\n");
        write("sys/fs/cgroup/memory.max", "5000000\n");
        write("sys/fs/cgroup/memory.current", "4900000\n");
        write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
        write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
        const auto memory = engine::cgroupMemory(m_root);
        QVERIFY(memory.has_value());
        QCOMPARE(memory->limitBytes, std::uint64_t{1'000'000});
        QCOMPARE(memory->availableBytes, std::uint64_t{100'000});  // the group above has less left than this one
        QCOMPARE(engine::cgroupProcessors(m_root).value(), 1.5);
    }

    void versionTwoInANamespace() {
        write("proc/self/cgroup", "0::/\n");
        write("sys/fs/cgroup/memory.max", "2097152\n");
        write("sys/fs/cgroup/memory.current", "3000000\n");
        QCOMPARE(engine::cgroupMemory(m_root)->limitBytes, std::uint64_t{2'097'152});
        QCOMPARE(engine::cgroupMemory(m_root)->availableBytes, std::uint64_t{0});
    }

    void versionOne() {
        write("proc/self/cgroup", "12:cpu,cpuacct:/docker/x\n5:memory:/docker/x\n0::/\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "8388608\n");  // the mount shows the container only
        write("sys/fs/cgroup/memory/memory.usage_in_bytes", "4194304\n");
        write("sys/fs/cgroup/memory/memory.stat", "cache 9\ntotal_inactive_file 1048576\n");
        write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
        write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
        const auto memory = engine::cgroupMemory(m_root);
        QVERIFY(memory.has_value());
        QCOMPARE(memory->availableBytes, std::uint64_t{8'388'608 - 4'194'304 + 1'048'576});
        QCOMPARE(engine::cgroupProcessors(m_root).value(), 2.0);
    }

    void noLimits() {
        write("proc/self/cgroup", "5:memory:/\n2:cpu:/\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
        write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        QVERIFY(!engine::cgroupMemory(m_root));
        QVERIFY(!engine::cgroupProcessors(m_root));
    }

    void strangeFiles() {
        write("proc/self/cgroup", "no colons\n::\n0::/../../outside\n");
        write("sys/fs/cgroup/memory.max", "12 apples\n");
        write("sys/fs/cgroup/cpu.max", "100 0\n");
        QVERIFY(!engine::cgroupMemory(m_root));
        QVERIFY(!engine::cgroupProcessors(m_root));
    }

    void numbersAndValues() {
        QCOMPARE(engine::parseNumber(" 42\n").value(), std::uint64_t{42});
        QVERIFY(!engine::parseNumber("-1"));
        QVERIFY(!engine::parseNumber(""));
        QVERIFY(!engine::parseNumber("99999999999999999999"));
        const std::string text = "MemTotal:  5 kB\nMem: 7\nmodel name\t: Some Processor\n";
        QCOMPARE(engine::valueOf(text, "MemTotal").value(), std::string_view("5 kB"));
        QCOMPARE(engine::valueOf(text, "Mem").value(), std::string_view("7"));
        QCOMPARE(engine::valueOf(text, "model name").value(), std::string_view("Some Processor"));
        QVERIFY(!engine::valueOf(text, "Swap"));
    }
};

FIRSTTOKEN_TEST_CLASS(TestCgroup);
#include "test_cgroup.moc"
