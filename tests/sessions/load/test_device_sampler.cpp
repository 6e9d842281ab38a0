#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <fstream>

#include "sessions/device_sampler.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::sessions;
namespace fs = std::filesystem;

class TestDeviceSampler : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    void write(const std::string& path, const std::string& text) const {
        const fs::path file = fs::path(m_folder.path().toStdString()) / path;
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }

private slots:
    void fillsWhatIsKnownAndNothingElse() {
        std::int64_t nowNs = 0, cpuNs = 0;
        engine::DeviceMonitor::Options options;
        options.root = m_folder.path().toStdString();
        options.nvmlLibrary.clear();
        options.steadyNs = [&] { return nowNs; };
        options.processCpuNs = [&]() -> std::optional<std::int64_t> { return cpuNs; };
        write("proc/stat", "cpu 0 0 0 100 0 0 0 0\n");
        write("sys/class/powercap/intel-rapl:0/name", "package-0\n");
        write("sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
        const auto sampler = deviceSampler(engine::DeviceMonitor(options));

        nowNs = 500'000'000;
        cpuNs = 1'000'000'000;
        write("proc/stat", "cpu 30 0 0 110 0 0 0 0\n");
        write("proc/self/stat", "1 (x) R 1 1 1 0 -1 0 11 0 22 0 0 0\n");
        write("proc/meminfo", "MemAvailable: 1000 kB\n");
        write("sys/class/powercap/intel-rapl:0/energy_uj", "6000000\n");
        SampleRecord record, untouched;
        record.queued = untouched.queued = 3;
        sampler(record);
        QCOMPARE(record.processCpu.value(), 2.0);
        QCOMPARE(record.machineCpu.value(), 0.75);
        QCOMPARE(record.majorFaults.value(), std::int64_t{22});
        QCOMPARE(record.availableBytes.value(), std::int64_t{1'024'000});
        QCOMPARE(record.watts.value(), 10.0);
        QVERIFY(!record.residentBytes);
        record.processCpu = record.machineCpu = record.watts = std::nullopt;
        record.majorFaults = record.availableBytes = std::nullopt;
        QVERIFY(record == untouched);
    }

    void thisMachine() {
        const auto sampler = deviceSampler();
        const auto copy = sampler;
        SampleRecord record;
        copy(record);
        QVERIFY(record.residentBytes.value() > 0);
        QVERIFY(!record.queued && !record.deviceUse);
    }
};

FIRSTTOKEN_TEST_CLASS(TestDeviceSampler);
#include "test_device_sampler.moc"
