#include <QtTest>
#include <atomic>
#include <thread>

#include "engine/observe/event_ring.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

namespace {

/// An event whose fields all follow from `number`, in turn of every kind: a torn copy shows.
Event eventOf(std::uint64_t number) {
    const auto small = static_cast<std::uint32_t>(number);
    Event event;
    event.atNs = static_cast<Nanoseconds>(number);
    switch (number % 4) {
        case 0:
            event.what = StateEvent{number, RequestState::Decoding, FinishReason::Stop, small, small, small, small, 3};
            break;
        case 1:
            event.what = TokenEvent{number, static_cast<std::int32_t>(number % 1'000'000), small};
            break;
        case 2: {
            StepEvent step;
            step.step = number;
            step.prefillRows = step.decodeRows = step.queued = step.blocksCached = small;
            step.weightBytes = step.kvBytesRead = step.multiplyAdds = number * 3;
            event.what = step;
            break;
        }
        default:
            event.what = SpanEvent{number, Stage::Decode, event.atNs - 1, event.atNs};
            break;
    }
    return event;
}

}  // namespace

class TestEventRing : public QObject {
    Q_OBJECT

private slots:
    void emptyRing() {
        const EventRing ring(8);
        const auto batch = ring.read(0);
        QVERIFY(batch.events.empty());
        QCOMPARE(batch.dropped, std::uint64_t{0});
        QCOMPARE(batch.next, std::uint64_t{0});
    }

    void readsGoOnWhereTheLastEnded() {
        EventRing ring(8);
        for (std::uint64_t i = 0; i < 5; ++i) ring.push(eventOf(i));
        auto batch = ring.read(0, 3);
        QCOMPARE(batch.events.size(), std::size_t{3});
        QVERIFY(batch.events[2] == eventOf(2));
        QCOMPARE(batch.next, std::uint64_t{3});
        batch = ring.read(batch.next);
        QCOMPARE(batch.events.size(), std::size_t{2});
        QVERIFY(batch.events[1] == eventOf(4));
        QCOMPARE(batch.dropped, std::uint64_t{0});
        QVERIFY(ring.read(batch.next).events.empty());
        QCOMPARE(ring.written(), std::uint64_t{5});
    }

    void overwrittenEventsAreCounted() {
        EventRing ring(8);
        for (std::uint64_t i = 0; i < 20; ++i) ring.push(eventOf(i));
        const auto batch = ring.read(5);
        QCOMPARE(batch.dropped, std::uint64_t{7});
        QCOMPARE(batch.events.size(), std::size_t{8});
        for (std::size_t i = 0; i < 8; ++i) QVERIFY(batch.events[i] == eventOf(12 + i));
        QCOMPARE(batch.next, std::uint64_t{20});
    }

    void aPlaceInTheFutureIsHarmless() {
        EventRing ring(8);
        ring.push(eventOf(0));
        const auto batch = ring.read(1'000);
        QVERIFY(batch.events.empty());
        QCOMPARE(batch.next, std::uint64_t{1});
        QCOMPARE(batch.dropped, std::uint64_t{0});
    }

    void capacityIsRoundedUp() {
        EventRing ring(5);
        for (std::uint64_t i = 0; i < 8; ++i) ring.push(eventOf(i));
        QCOMPARE(ring.read(0).events.size(), std::size_t{8});
        EventRing least(0);
        least.push(eventOf(1));
        least.push(eventOf(2));
        QVERIFY(least.read(0).events.back() == eventOf(2));
    }

    /// One writer that never waits, readers that are often lapped: every event is whole, in order, seen once or
    /// counted as dropped.
    void readersBesideAWriter() {
        constexpr std::uint64_t total = 60'000;
        constexpr int readers = 3;
        EventRing ring(64);
        std::atomic<bool> torn{false};
        std::atomic<bool> unordered{false};
        std::atomic<std::uint64_t> wrongCounts{0};
        const auto readAll = [&] {
            std::uint64_t next = 0;
            std::uint64_t seen = 0;
            std::uint64_t dropped = 0;
            Nanoseconds last = -1;
            while (next < total) {
                const auto batch = ring.read(next, 40);
                for (const Event& event : batch.events) {
                    if (!(event == eventOf(static_cast<std::uint64_t>(event.atNs)))) torn = true;
                    if (event.atNs <= last) unordered = true;
                    last = event.atNs;
                }
                seen += batch.events.size();
                dropped += batch.dropped;
                next = batch.next;
                if (batch.events.empty()) std::this_thread::yield();
            }
            if (seen + dropped != total) ++wrongCounts;
        };
        {
            std::vector<std::jthread> threads;
            for (int i = 0; i < readers; ++i) threads.emplace_back(readAll);
            for (std::uint64_t i = 0; i < total; ++i) ring.push(eventOf(i));
        }
        QVERIFY(!torn);
        QVERIFY(!unordered);
        QCOMPARE(wrongCounts.load(), std::uint64_t{0});
    }
};

FIRSTTOKEN_TEST_CLASS(TestEventRing);
#include "test_event_ring.moc"
