#include <QtTest>

#include "engine/profile.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestEffective : public QObject {
    Q_OBJECT

    static ProfileFacts facts() {
        ProfileFacts f;
        f.contextLength = 32'768;
        f.cores = 6;
        return f;
    }
    /// "key: requested -> effective" of every change.
    static QStringList changesOf(const EffectiveProfile& effective) {
        QStringList list;
        for (const auto& change : effective.changes) {
            list << QString::fromStdString(change.key + ": " + change.requested + " -> " + change.effective);
            if (change.reason.empty()) list << "no reason";
        }
        return list;
    }

private slots:
    void defaultNeedsNoChange() {
        const auto effective = effectiveProfile(Profile{}, facts());
        QCOMPARE(changesOf(effective), QStringList{});
        QCOMPARE(effective.profile.model.maxContextTokens.value(), std::int64_t{8192});
        QCOMPARE(effective.profile.device.threads.value(), std::int64_t{6});
        QCOMPARE(effective.profile.device.kind, DeviceKind::Cpu);
        QCOMPARE(effective.profile.device.gpuLayers.value(), std::int64_t{0});
        QCOMPARE(effective.profile.device.deterministic.value(), true);
        QVERIFY(!effective.profile.cache.memoryBytes);
    }

    void production() {
        const auto effective = effectiveProfile(*loadProfile("production"), facts());
        QCOMPARE(changesOf(effective), QStringList{"model.precision: fp8 -> as_stored"});
        QCOMPARE(effective.profile.model.maxContextTokens.value(), std::int64_t{16'384});
    }

    void everythingOffOnAModel() {
        const auto effective = effectiveProfile(*loadProfile("everything-off"), facts());
        QCOMPARE(changesOf(effective), QStringList{"scheduler.max_batch_tokens: 2048 -> 8192"});
    }

    void contextFollowsTheModel() {
        auto small = facts();
        small.contextLength = 2'048;
        QCOMPARE(effectiveProfile(Profile{}, small).profile.model.maxContextTokens.value(), std::int64_t{2'048});
        Profile large;
        large.model.maxContextTokens = 4'096;
        const auto effective = effectiveProfile(large, small);
        QCOMPARE(changesOf(effective), QStringList{"model.max_context_tokens: 4096 -> 2048"});
        QVERIFY(effective.changes[0].reason.find("2048") != std::string::npos);
    }

    void unknownFactsLeaveValuesAlone() {
        Profile profile;
        profile.model.maxContextTokens = 1'000'000;
        profile.scheduler.chunkedPrefill = true;
        QCOMPARE(changesOf(effectiveProfile(profile, {})), QStringList{});
        QVERIFY(!effectiveProfile(Profile{}, {}).profile.model.maxContextTokens);
        auto broken = facts();
        broken.contextLength = 0;
        QVERIFY(!effectiveProfile(Profile{}, broken).profile.model.maxContextTokens);
    }

    void whatIsNotBuiltYet() {
        Profile profile;
        profile.model.precision = Precision::Q4K;
        profile.cache.kvPrecision = KvCachePrecision::Fp8;
        profile.device.kind = DeviceKind::Cuda;
        profile.device.gpuLayers = 12;
        profile.device.deterministic = false;
        profile.device.threads = 500;
        const QStringList expected = {
            "model.precision: q4_k -> as_stored", "cache.kv_precision: fp8 -> f16",      "device.kind: cuda -> cpu",
            "device.gpu_layers: 12 -> 0",         "device.deterministic: false -> true", "device.threads: 500 -> 256"};
        QCOMPARE(changesOf(effectiveProfile(profile, facts())), expected);
    }

    void whatIsHonoured() {
        Profile profile;
        profile.model.precision = Precision::F32;
        profile.cache.kvPrecision = KvCachePrecision::F32;
        profile.device.threads = 200;
        profile.scheduler.policy = SchedulePolicy::ShortestPrompt;
        profile.response.streaming = false;
        const auto effective = effectiveProfile(profile, facts());
        QCOMPARE(changesOf(effective), QStringList{});
        QCOMPARE(effective.profile.device.threads.value(), std::int64_t{200});
    }

    void rowsForEverySequence() {
        Profile profile;
        profile.scheduler.maxBatchTokens = 8;
        QCOMPARE(changesOf(effectiveProfile(profile, facts())),
                 QStringList{"scheduler.max_concurrent_sequences: 16 -> 8"});
        profile.scheduler.chunkedPrefill = false;  // the batch grows first, and then holds all sequences
        QCOMPARE(changesOf(effectiveProfile(profile, facts())), QStringList{"scheduler.max_batch_tokens: 8 -> 8192"});
    }

    void noPrefixCacheWithoutKv() {
        Profile profile;
        profile.cache.kvCache = false;
        QCOMPARE(changesOf(effectiveProfile(profile, facts())), QStringList{"cache.prefix_cache: true -> false"});
    }

    void effectiveIsStable() {
        Profile profile = *loadProfile("production");
        profile.device.kind = DeviceKind::Cuda;
        const auto once = effectiveProfile(profile, facts());
        const auto twice = effectiveProfile(once.profile, facts());
        QVERIFY(once.profile == twice.profile);
        QVERIFY(twice.changes.empty());
    }
};

FIRSTTOKEN_TEST_CLASS(TestEffective);
#include "test_effective.moc"
