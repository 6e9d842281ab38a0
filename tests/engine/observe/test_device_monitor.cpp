#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <fstream>

#include "engine/device.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;
namespace fs = std::filesystem;

class TestDeviceMonitor : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    fs::path m_root;
    std::int64_t m_nowNs = 0;
    std::optional<std::int64_t> m_cpuNs;

    void write(const std::string& path, const std::string& text) {
        fs::create_directories((m_root / path).parent_path());
        std::ofstream(m_root / path) << text;
    }
    void zone(const std::string& folder, const std::string& name, const std::string& energy,
              const std::string& range = "1000000000\n") {
        const std::string at = "sys/class/powercap/" + folder;
        write(at + "/name", name + "\n");
        write(at + "/energy_uj", energy + "\n");
        if (!range.empty()) write(at + "/max_energy_range_uj", range);
    }
    DeviceMonitor monitor(const std::string& nvml = {}) {
        DeviceMonitor::Options options;
        options.root = m_root;
        options.nvmlLibrary = nvml;
        options.steadyNs = [this] { return m_nowNs; };
        options.processCpuNs = [this] { return m_cpuNs; };
        return DeviceMonitor(options);
    }
    void pass(double seconds) { m_nowNs += static_cast<std::int64_t>(seconds * 1e9); }

private slots:
    void init() {
        m_root = fs::path(m_folder.path().toStdString()) / QTest::currentTestFunction();
        fs::create_directories(m_root);
        m_nowNs = 5'000'000'000;
        m_cpuNs = 0;
    }

    void unknownIsEmptyNeverZero() {
        m_cpuNs.reset();
        DeviceMonitor watched = monitor();
        pass(1);
        QVERIFY(watched.sample() == DeviceSample());
        QVERIFY(watched.gpuDriver().empty());
    }

    void garbageIsUnknown() {
        write("proc/stat", "cpu apples 1 2 3 4\n");
        write("proc/self/stat", "1 (name\n");
        write("proc/self/statm", "12\n");
        write("proc/meminfo", "MemAvailable: 99999999999999999999 kB\n");
        zone("intel-rapl:0", "package-0", "-3");
        m_cpuNs.reset();
        DeviceMonitor watched = monitor();
        pass(1);
        QVERIFY(watched.sample() == DeviceSample());
        write("proc/meminfo", "MemAvailable: 18446744073709551615 kB\n");  // overflows in bytes
        QVERIFY(watched.sample() == DeviceSample());
    }

    void processCpuIsCoresInUse() {
        DeviceMonitor watched = monitor();
        QVERIFY(!watched.sample().processCpu);  // no time has passed
        pass(0.1);
        *m_cpuNs += 250'000'000;
        QCOMPARE(watched.sample().processCpu.value(), 2.5);
        pass(0.1);
        QCOMPARE(watched.sample().processCpu.value(), 0.0);  // measured, and none
        *m_cpuNs -= 1;
        pass(0.1);
        QVERIFY(!watched.sample().processCpu);
    }

    void machineCpuIsTheBusyShare() {
        // user nice system idle iowait irq softirq steal guest guest_nice
        write("proc/stat", "cpu  100 10 50 800 40 1 2 3 90 0\ncpu0 1 1 1 1\nintr 5\n");
        DeviceMonitor watched = monitor();
        QVERIFY(!watched.sample().machineCpu);  // no tick since
        write("proc/stat", "cpu  130 10 60 850 50 1 2 3 120 0\n");
        QCOMPARE(watched.sample().machineCpu.value(), 0.4);  // 40 of 100; the guest's time is within user's
        write("proc/stat", "cpu  130 10 60 840 50 1 2 3 120 0\n");
        QVERIFY(!watched.sample().machineCpu);  // went back
        write("proc/stat", "cpu  140 10 60 850\n");
        DeviceMonitor old = monitor();
        write("proc/stat", "cpu  145 10 60 865\n");
        QCOMPARE(old.sample().machineCpu.value(), 0.25);
    }

    void memoryAndFaults() {
        write("proc/self/stat", "7 (a) name) R 1 7 7 0 -1 4194304 1234 5 67 8 90 12 0 0 20 0 3 0\n");
        write("proc/self/statm", "9000 300 20 1 0 5 0\n");
        write("proc/meminfo", "MemTotal: 2000 kB\nMemAvailable:    1000 kB\n");
        write("proc/self/cgroup", "0::/\n");
        write("sys/fs/cgroup/memory.max", "900000\n");
        write("sys/fs/cgroup/memory.current", "800000\n");
        DeviceMonitor watched = monitor();
        const DeviceSample sample = watched.sample();
        QCOMPARE(sample.minorFaults.value(), std::uint64_t{1234});
        QCOMPARE(sample.majorFaults.value(), std::uint64_t{67});
        QVERIFY(*sample.residentBytes >= 300 * 4096 && *sample.residentBytes % 300 == 0);
        QCOMPARE(sample.availableBytes.value(), std::uint64_t{100'000});
    }

    void energyBecomesWatts() {
        zone("intel-rapl:0", "package-0", "1000000");
        zone("intel-rapl:0:0", "core", "5");
        zone("intel-rapl:0:1", "dram", "100");
        zone("intel-rapl:1", "package-1", "0");
        zone("intel-rapl:2", "psys", "0");
        zone("intel-rapl-mmio:0", "package-0", "0");
        DeviceMonitor watched = monitor();
        zone("intel-rapl:0", "package-0", "6000000");
        zone("intel-rapl:0:0", "core", "4000005");
        zone("intel-rapl:0:1", "dram", "1000100");
        zone("intel-rapl:1", "package-1", "2000000");
        zone("intel-rapl:2", "psys", "90000000");
        zone("intel-rapl-mmio:0", "package-0", "5000000");
        pass(0.5);
        QCOMPARE(watched.sample().packageWatts.value(), 16.0);  // 5 + 1 + 2 J in half a second
    }

    void energyCounterWrapsAround() {
        zone("intel-rapl:0", "package-0", "999000000");
        zone("intel-rapl:1", "package-1", "7", "");
        DeviceMonitor watched = monitor();
        zone("intel-rapl:0", "package-0", "2000000");
        pass(1);
        QCOMPARE(watched.sample().packageWatts.value(), 3.0);
        zone("intel-rapl:1", "package-1", "6", "");  // went back, and its range is not told
        pass(1);
        QVERIFY(!watched.sample().packageWatts);
        pass(1);
        QCOMPARE(watched.sample().packageWatts.value(), 0.0);
        pass(61);  // it may have gone around any number of times
        QVERIFY(!watched.sample().packageWatts);
    }

    void energyThatIsPartlySecretIsUnknown() {
        zone("intel-rapl:0", "package-0", "1");
        write("sys/class/powercap/intel-rapl:1/name", "package-1\n");
        DeviceMonitor watched = monitor();
        pass(1);
        QVERIFY(!watched.sample().packageWatts);
    }

    void cardsAreReadThroughTheirLibrary() {
        DeviceMonitor watched = monitor(FIRSTTOKEN_FAKE_NVML);
        QCOMPARE(watched.gpuDriver(), std::string("999.1"));
        const DeviceMonitor moved = std::move(watched);
        watched = monitor();
        QVERIFY(watched.sample().gpus.empty());
        watched = monitor(FIRSTTOKEN_FAKE_NVML);
        const std::vector<GpuSample> cards = watched.sample().gpus;
        QCOMPARE(cards.size(), std::size_t{2});
        QCOMPARE(cards[0].name, std::string(96, 'G'));
        QCOMPARE(cards[0].use.value(), 0.37);
        QCOMPARE(cards[0].memoryBytes.value(), std::uint64_t{3'000'000'000});
        QCOMPARE(cards[0].memoryTotalBytes.value(), std::uint64_t{8'000'000'000});
        QCOMPARE(cards[0].watts.value(), 61.5);
        QVERIFY(!cards[0].celsius);
        QVERIFY(cards[1] == GpuSample());
    }

    void noCardIsNoTrouble() {
        for (const char* library : {"libno-such-thing.so.7", FIRSTTOKEN_FAKE_NVML_SICK, FIRSTTOKEN_FAKE_NVML_EMPTY,
                                    FIRSTTOKEN_SOURCE_DIR "/README.md", "libm.so.6"}) {
            DeviceMonitor watched = monitor(library);
            QVERIFY2(watched.sample().gpus.empty(), library);
            QVERIFY(watched.gpuDriver().empty());
        }
    }

    void thisMachine() {
        DeviceMonitor watched;
        std::vector<char> block(std::size_t{8} << 20U, 'x');
        double sum = 0;
        for (int i = 0; i < 3'000'000; ++i) sum += std::sqrt(static_cast<double>(i));
        const DeviceSample sample = watched.sample();
        QVERIFY(sum > 0 && block.back() == 'x');
        QVERIFY(sample.processCpu.value() > 0 && *sample.processCpu < 10'000);
        QVERIFY(!sample.machineCpu || (*sample.machineCpu >= 0 && *sample.machineCpu <= 1));
        QVERIFY(sample.residentBytes.value() >= block.size());
        QVERIFY(sample.availableBytes.value() > 0);
        QVERIFY(sample.minorFaults.value() > 0);
    }
};

FIRSTTOKEN_TEST_CLASS(TestDeviceMonitor);
#include "test_device_monitor.moc"
