#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sessions/load/load_session.h"
#include "tests/sessions/load/memory_store.h"
#include "tests/sessions/load/refusing_engine.h"
#include "tests/support/shared_folder.h"
#include "tests/support/test_registry.h"

using namespace firsttoken;
using namespace firsttoken::sessions;
using engine::FinishReason;
using engine::Stage;

namespace {

std::unique_ptr<engine::Engine> engineWith(const std::string& yaml = {}) {
    engine::EngineOptions options;
    options.modelPath = tests::fixture("llama.gguf");
    options.profile = engine::parseProfile(yaml, "test").profile;
    auto loaded = engine::Engine::load(options);
    if (!loaded) qFatal("%s", loaded.error().message.c_str());
    return std::move(*loaded);
}

Workload small(std::int64_t requests, std::int64_t clients) {
    Workload workload;
    workload.arrivals.kind = ArrivalKind::Closed;
    workload.arrivals.clients = clients;
    workload.requests = requests;
    workload.promptTokens = {LengthKind::LogNormal, 24, 12, 4, 64};
    workload.outputTokens = {LengthKind::Normal, 16, 6, 2, 40};
    return workload;
}

LoadOutcome outcomeOf(engine::Engine& engine, const Workload& workload, SessionStore* store = nullptr,
                      const LoadSessionOptions& options = {}) {
    auto outcome = runLoadSession(engine, workload, store, options);
    if (!outcome) qFatal("%s", outcome.error().message.c_str());
    return std::move(*outcome);
}

/// What is wrong with the order of a request's times, or empty.
QString disorder(const RequestRecord& record) {
    std::vector<std::int64_t> times = {record.plannedNs};
    for (const auto& time : {record.sentNs, record.scheduledNs, record.prefillEndNs}) {
        if (!time) return QStringLiteral("a time is missing");
        times.push_back(*time);
    }
    times.insert(times.end(), record.deltaNs.begin(), record.deltaNs.end());
    if (!record.endNs) return QStringLiteral("no end");
    times.push_back(*record.endNs);
    return std::is_sorted(times.begin(), times.end()) ? QString() : QStringLiteral("times run backwards");
}

}  // namespace

class TestLoadSession : public QObject {
    Q_OBJECT
private slots:
    void everythingIsRecorded() {
        const auto engine = engineWith("scheduler: {max_concurrent_sequences: 8}");
        tests::MemoryStore store;
        Workload workload = small(60, 12);
        workload.warmup.requests = 10;
        workload.sharedPrefix = {0.5, 2, 16};
        LoadSessionOptions options;
        int ticks = 0;
        std::size_t observed = 0;
        options.observer.progress = [&](const LoadProgress&) { ++ticks; };
        options.observer.request = [&](const RequestRecord&) { ++observed; };
        options.deviceSampler = [](SampleRecord& sample) { sample.processCpu = 1.5; };
        const LoadOutcome outcome = outcomeOf(*engine, workload, &store, options);
        const SessionData& data = outcome.data;

        QCOMPARE(outcome.session, SessionId{42});
        QVERIFY(data.header.state == SessionState::Completed);
        QVERIFY(data.header.kind == SessionKind::Load);
        QCOMPARE(data.header.modelHash.size(), std::size_t{64});
        QCOMPARE(data.header.modelHash, store.hashes[data.header.modelPath]);
        QCOMPARE(data.header.profileName, std::string("test"));
        QVERIFY(*parseWorkload(data.header.workload) == workload);
        QVERIFY(data.header.endedAt && *data.header.endedAt >= data.header.startedAt);
        QCOMPARE(data.header.title, std::string("60 requests, 12 clients that wait for their answers"));
        QVERIFY(!data.header.isa.empty() && !data.header.machine.empty() && !data.header.build.empty());

        QCOMPARE(data.requests.size(), std::size_t{60});
        QCOMPARE(observed, std::size_t{60});
        QVERIFY(ticks > 2);
        for (const RequestRecord& record : data.requests) {
            QVERIFY(record.reason == FinishReason::Length);
            QCOMPARE(disorder(record), QString());
            QVERIFY(record.firstTokenNs && !record.prompt.empty() && !record.output.empty());
            QVERIFY(record.cachedTokens < record.promptTokens);
        }
        spansCoverTheRequests(data);

        QVERIFY(!data.samples.empty());
        double tokens = 0;
        std::int64_t before = 0;
        for (const SampleRecord& sample : data.samples) {
            QVERIFY(sample.decoding && sample.blocksTotal && sample.deviceUse && sample.processCpu);
            QVERIFY(!sample.watts);
            tokens += *sample.decodeTokensPerS * static_cast<double>(sample.atNs - before) / 1e9;
            before = sample.atNs;
        }
        std::int64_t output = 0;
        for (const RequestRecord& record : data.requests) output += record.outputTokens - 1;  // the first is prefill's
        QVERIFY2(std::abs(tokens - static_cast<double>(output)) <= 16, qPrintable(QString::number(tokens)));

        QCOMPARE(data.marks.size(), std::size_t{2});
        QVERIFY(data.marks[0].kind == MarkKind::WarmupEnd);
        QCOMPARE(data.marks[0].atNs, data.requests[10].plannedNs);
        QVERIFY(data.marks[1].kind == MarkKind::LoadEnd);
        QVERIFY(outcome.progress.phase == LoadPhase::Finished);
        QCOMPARE(outcome.progress.completed, std::int64_t{60});
        QVERIFY(outcome.sendLag.p50Ms && outcome.sendLag.p99Ms && outcome.sendLag.maxMs);

        const auto& written = *store.written;
        QVERIFY(written.ended);
        QCOMPARE(written.requests.size(), std::size_t{60});
        for (const RequestRecord& record : data.requests) QVERIFY(written.requests.at(record.number) == record);
        QVERIFY(written.spans == data.spans && written.samples == data.samples);
        QCOMPARE(written.marks.size(), std::size_t{2});
    }
    void theSameSeedSendsTheSameAtTheSameTimes() {
        const auto engine = engineWith();
        Workload workload = small(30, 1);
        workload.arrivals.kind = ArrivalKind::Poisson;
        workload.arrivals.ratePerS = 200;
        const LoadOutcome first = outcomeOf(*engine, workload);
        const LoadOutcome second = outcomeOf(*engine, workload);
        for (std::size_t i = 0; i < 30; ++i) {
            const RequestRecord& a = first.data.requests[i];
            const RequestRecord& b = second.data.requests[i];
            QCOMPARE(a.plannedNs, b.plannedNs);
            QCOMPARE(a.prompt, b.prompt);
            QCOMPARE(a.promptTokens, b.promptTokens);
            QCOMPARE(a.outputTokens, b.outputTokens);
            QCOMPARE(a.output, b.output);
            // The second run finds none of the first one's prefixes.
            QCOMPARE(b.cachedTokens, std::int64_t{0});
        }
    }
    void sharedPrefixesHit() {
        const auto engine = engineWith();
        Workload workload = small(40, 4);
        workload.promptTokens = {LengthKind::Fixed, 60, 0, 1, 100};
        workload.sharedPrefix = {1, 2, 48};
        std::int64_t cached = 0;
        for (const RequestRecord& record : outcomeOf(*engine, workload).data.requests) cached += record.cachedTokens;
        QVERIFY2(cached >= 30 * 48, qPrintable(QString::number(cached)));
    }
    void sixtyFourClientsLoseNothing() {
        const auto engine = engineWith("scheduler: {max_concurrent_sequences: 64}");
        const QTemporaryDir folder;
        const auto store = SessionStore::open({folder.filePath(QStringLiteral("s.sqlite")).toStdString(), 1U << 16U});
        QVERIFY(store.ok());
        Workload workload = small(2000, 64);
        workload.hangUpShare = 0.05;
        const LoadOutcome outcome = outcomeOf(*engine, workload, store->get());
        QCOMPARE(outcome.data.requests.size(), std::size_t{2000});
        std::set<std::int64_t> numbers;
        int hungUp = 0;
        for (const RequestRecord& record : outcome.data.requests) {
            numbers.insert(record.number);
            hungUp += record.hungUp ? 1 : 0;
            QVERIFY(record.reason == (record.hungUp ? FinishReason::Cancelled : FinishReason::Length));
        }
        QCOMPARE(numbers.size(), std::size_t{2000});
        QVERIFY(hungUp > 50);
        QCOMPARE(outcome.lostEvents, std::uint64_t{0});
        QCOMPARE(engine->snapshot().blocksReferenced, 0U);

        const StoreStatistics stored = (*store)->statistics();
        QCOMPARE(stored.queueDropped, std::uint64_t{0});
        QVERIFY(!outcome.storageError);
        const auto again = (*store)->load(outcome.session);
        QVERIFY(again.ok());
        QVERIFY(again->requests == outcome.data.requests);
        QCOMPARE(again->samples.size(), outcome.data.samples.size());
        QVERIFY(again->header.state == SessionState::Completed);

        const double engineNs = busyNs(outcome.data);
        const auto own = static_cast<double>(outcome.cost.generatorCpuNs + outcome.cost.recorderCpuNs);
        const auto storing = static_cast<double>(stored.writerCpuNs);
        // Times are told, not judged: limits of time are the benchmarks' matter.
        qInfo("sender and recorder %.1f ms, store %.1f ms, engine steps %.1f ms, send lag p99 %.2f ms", own / 1e6,
              storing / 1e6, engineNs / 1e6, *outcome.sendLag.p99Ms);
    }
    void cancelEndsTheSession() {
        const auto engine = engineWith();
        tests::MemoryStore store;
        Workload workload = small(100'000, 16);
        std::stop_source stop;
        LoadSessionOptions options;
        options.stop = stop.get_token();
        options.observer.progress = [&](const LoadProgress& progress) {
            if (progress.done > 20) stop.request_stop();
        };
        const LoadOutcome outcome = outcomeOf(*engine, workload, &store, options);
        QVERIFY(outcome.data.header.state == SessionState::Cancelled);
        QVERIFY(store.written->header.state == SessionState::Cancelled);
        QVERIFY(outcome.progress.done > 20 && outcome.progress.running == 0);
        QCOMPARE(static_cast<std::int64_t>(outcome.data.requests.size()), outcome.progress.sent);
        for (const RequestRecord& record : outcome.data.requests) QVERIFY(record.endNs.has_value());
        QVERIFY(outcome.data.marks.front().kind == MarkKind::Cancel);
        QVERIFY(outcome.data.marks.back().kind == MarkKind::LoadEnd);
        const auto snapshot = engine->snapshot();
        QCOMPARE(snapshot.queued + snapshot.prefilling + snapshot.decoding, 0U);
    }
    void aStopBeforeTheLoadIsAnError() {
        const auto engine = engineWith();
        std::stop_source stop;
        stop.request_stop();
        LoadSessionOptions options;
        options.stop = stop.get_token();
        const auto outcome = runLoadSession(*engine, small(5, 1), nullptr, options);
        QVERIFY(!outcome.ok());
        QCOMPARE(outcome.error().code, engine::ErrorCode::Cancelled);
    }
    void hangUpsAreWastedWorkWhereTheEngineRunsOn() {
        const auto engine = engineWith("response: {cancel_on_disconnect: false}");
        Workload workload = small(40, 8);
        workload.hangUpShare = 1;
        const LoadOutcome outcome = outcomeOf(*engine, workload);
        QCOMPARE(outcome.data.requests.size(), std::size_t{40});
        for (const RequestRecord& record : outcome.data.requests) {
            QVERIFY(record.hungUp);
            QVERIFY(record.reason == FinishReason::Cancelled);
        }
        QVERIFY(engine->snapshot().wastedTokens > 0);
    }
    void aSessionOfNothingButFailuresHasFailed() {
        const auto real = engineWith();
        tests::RefusingEngine engine(*real);
        const LoadOutcome outcome = outcomeOf(engine, small(10, 2));
        QVERIFY(outcome.data.header.state == SessionState::Failed);
        QCOMPARE(outcome.data.header.failure, std::string("no request completed; request 1: out of order"));
        QCOMPARE(outcome.progress.failed, std::int64_t{10});
        QVERIFY(!outcome.progress.ttftP50Ms);
    }
    void theStoresErrorsAreTold() {
        const auto engine = engineWith();
        tests::MemoryStore store;
        store.writeError = engine::Error{engine::ErrorCode::Io, "the disk is full"};
        const LoadOutcome outcome = outcomeOf(*engine, small(5, 1), &store);
        QCOMPARE(outcome.storageError->message, std::string("the disk is full"));
        QCOMPARE(outcome.data.requests.size(), std::size_t{5});
        store.beginError = engine::Error{engine::ErrorCode::Io, "read-only"};
        QCOMPARE(runLoadSession(*engine, small(5, 1), &store, {}).error().message, std::string("read-only"));
    }
    void whatCannotBeIsRefused() {
        const auto engine = engineWith();
        Workload workload;
        workload.promptTokens.mean = 1'000'000;
        QCOMPARE(runLoadSession(*engine, workload, nullptr, {}).error().code, engine::ErrorCode::DoesNotFit);
        workload.hangUpShare = 2;
        QCOMPARE(runLoadSession(*engine, workload, nullptr, {}).error().code, engine::ErrorCode::BadInput);
    }

private:
    static double busyNs(const SessionData& data) {
        double busy = 0;
        std::int64_t before = 0;
        for (const SampleRecord& sample : data.samples) {
            busy += *sample.deviceUse * static_cast<double>(sample.atNs - before);
            before = sample.atNs;
        }
        return busy;
    }
    /// Client lag, queue, prefill and decode follow each other without a gap.
    void spansCoverTheRequests(const SessionData& data) {
        std::map<std::int64_t, std::vector<SpanRecord>> spans;
        for (const SpanRecord& span : data.spans) {
            if (span.stage != Stage::Stream) spans[span.request].push_back(span);
        }
        QCOMPARE(spans.size(), data.requests.size());
        for (const RequestRecord& record : data.requests) {
            auto& own = spans[record.number];
            std::sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.startNs < b.startNs; });
            QCOMPARE(own.front().startNs, record.plannedNs);
            QCOMPARE(own.back().endNs, *record.endNs);
            for (std::size_t i = 1; i < own.size(); ++i) QCOMPARE(own[i].startNs, own[i - 1].endNs);
        }
    }
};

FIRSTTOKEN_TEST_CLASS(TestLoadSession);
#include "test_load_session.moc"
