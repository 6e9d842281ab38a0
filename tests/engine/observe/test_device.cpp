#include <QtTest>
#include <algorithm>

#include "engine/observe/device_limits.h"
#include "engine/observe/instruction_sets.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestDevice : public QObject {
    Q_OBJECT

private slots:
    void factsAreFilled() {
        const MachineFacts facts = machineFacts();
        QVERIFY(!facts.processor.empty());
        QVERIFY(facts.cores >= 1);
        QVERIFY(facts.memoryBytes.value() > 64U << 20U);
        QVERIFY(facts.system.find("Linux") != std::string::npos);
        QVERIFY(!facts.build.empty());
    }

    void memoryAddsUp() {
        const auto facts = machineFacts();
        const auto available = availableMemoryBytes();
        const auto resident = residentBytes();
        QVERIFY(available && resident);
        QVERIFY(*available <= *facts.memoryBytes);
        QVERIFY(*resident > 0 && *resident < *facts.memoryBytes);
    }

    void residentMemoryGrowsWithUse() {
        const auto before = residentBytes();
        constexpr std::size_t bytes = 32U << 20U;
        std::vector<char> block(bytes, 'x');
        const auto after = residentBytes();
        QVERIFY(*after >= *before + bytes / 2);
        QCOMPARE(block[bytes / 2], 'x');
    }

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    void instructionSetsAgreeWithTheCompilersRuntime() {
        const InstructionSets sets = instructionSets();
        QCOMPARE(sets.avx2, __builtin_cpu_supports("avx2") != 0);
        QCOMPARE(sets.fma, __builtin_cpu_supports("fma") != 0);
        QCOMPARE(sets.avx512f, __builtin_cpu_supports("avx512f") != 0);
        QCOMPARE(sets.avx512Vnni, __builtin_cpu_supports("avx512vnni") != 0);
        QCOMPARE(sets.avx512Bf16, __builtin_cpu_supports("avx512bf16") != 0);
    }
#endif

    void limitsArePlausible() {
        const LimitsEffort effort{8U << 20U, std::chrono::milliseconds(5)};
        const auto limits = measureLimitsWith(2, effort);
        QVERIFY(limits.readGbPerS.value() > 0.01 && *limits.readGbPerS < 100'000);
        const InstructionSets sets = instructionSets();
        QCOMPARE(limits.int8TopPerS.has_value(), sets.avx2);
        QCOMPARE(limits.bf16TopPerS.has_value(), sets.avx512Bf16);
        if (limits.int8TopPerS) QVERIFY(*limits.int8TopPerS > 0.0001 && *limits.int8TopPerS < 100'000);
        QVERIFY(measureLimitsWith(0, effort).readGbPerS.has_value());
    }
};

FIRSTTOKEN_TEST_CLASS(TestDevice);
#include "test_device.moc"
