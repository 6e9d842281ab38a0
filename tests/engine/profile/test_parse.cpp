#include <QtTest>
#include <algorithm>

#include "engine/profile.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestParse : public QObject {
    Q_OBJECT

    /// "line:column message" of every error.
    static QStringList errorsOf(const std::string& yaml) {
        QStringList list;
        for (const auto& error : parseProfile(yaml).errors) {
            list << QString("%1:%2 %3").arg(error.line).arg(error.column).arg(QString::fromStdString(error.message));
        }
        return list;
    }

private slots:
    void emptyTextsAreTheDefault() {
        for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "{}", "model:\n", "~", "\xEF\xBB\xBF"}) {
            const auto parsed = parseProfile(text);
            QVERIFY2(parsed.errors.empty(), text);
            QVERIFY2(parsed.profile == Profile{}, text);
            QVERIFY(parsed.keysGiven.empty());
        }
    }

    void theArticlesProfile() {
        const auto parsed = parseProfile(
            "# Production inference profile\nmodel:\n  precision: fp8\n  max_context_tokens: 16384\nscheduler:\n"
            "  continuous_batching: true\n  max_concurrent_sequences: 128\n  max_batch_tokens: 32768\ncache:\n"
            "  kv_cache: true\n  prefix_cache: true\nresponse:\n  streaming: true\n  cancel_on_disconnect: true\n",
            "production");
        QVERIFY(parsed.errors.empty());
        QCOMPARE(parsed.profile.name, std::string("production"));
        QCOMPARE(parsed.profile.model.precision, Precision::Fp8);
        QCOMPARE(parsed.profile.model.maxContextTokens.value(), std::int64_t{16384});
        QCOMPARE(parsed.profile.scheduler.maxConcurrentSequences, std::int64_t{128});
        QCOMPARE(parsed.profile.scheduler.maxBatchTokens, std::int64_t{32768});
        QCOMPARE(parsed.keysGiven.size(), std::size_t{9});
        QCOMPARE(parsed.keysGiven[3], std::string("scheduler.max_concurrent_sequences"));
    }

    void everyKey() {
        const auto parsed = parseProfile(R"(
model: {path: /models/a.gguf, chat_template: "{{ x }}", precision: q4_0, max_context_tokens: 100, trim: drop_oldest}
scheduler:
  continuous_batching: false
  max_concurrent_sequences: 2
  max_batch_tokens: 64
  policy: longest_prefix
  chunked_prefill: false
  prefill_time_ms: 20
  max_queue: 5
  queue_timeout_ms: 300
cache: {kv_cache: false, prefix_cache: false, memory: 4 GiB, block_tokens: 32, kv_precision: int8}
response: {streaming: false, cancel_on_disconnect: false}
device: {kind: cuda, threads: 3, gpu_layers: 7, deterministic: false}
sampling:
  temperature: 0
  top_p: 0.9
  top_k: 40
  min_p: 0.05
  typical_p: 0.95
  repetition_penalty: 1.1
  frequency_penalty: -0.5
  presence_penalty: 1
  seed: 18446744073709551615
  logit_bias: {5: -100, 7: 2.5}
slo: {ttft_ms: none, tpot_ms: 50, e2e_ms: 9000.5, targets: [ttft p95 ≤ 650 ms, "e2e p99.9 <= 2 s"]}
cost: {per_hour: 2.5, currency: EUR}
)");
        for (const auto& error : parsed.errors) qWarning("%d:%d %s", error.line, error.column, error.message.c_str());
        QVERIFY(parsed.errors.empty());
        Profile p;
        p.model = {"/models/a.gguf", "{{ x }}", Precision::Q4_0, 100, TrimPolicy::DropOldest};
        p.scheduler = {false, 2, 64, SchedulePolicy::LongestPrefix, false, 20, 5, 300};
        p.cache = {false, false, std::uint64_t{4} << 30U, 32, KvCachePrecision::Int8};
        p.response = {false, false};
        p.device = {DeviceKind::Cuda, 3, 7, false};
        p.sampling = {0, 0.9, 40, 0.05, 0.95, 1.1, -0.5, 1, UINT64_MAX, {{5, -100}, {7, 2.5}}};
        p.slo = {std::nullopt, 50, 9000.5, {{"ttft", 0.95, 650}, {"e2e", 0.999, 2000}}};
        p.cost = {2.5, "EUR"};
        QVERIFY(parsed.profile == p);
        QCOMPARE(parsed.keysGiven.size(), std::size_t{40});
    }

    void unsetWords() {
        const auto parsed = parseProfile(
            "model: {max_context_tokens: auto, path: null}\ncache: {memory: auto}\n"
            "device: {threads: auto, gpu_layers: ~, deterministic: auto}\nsampling: {seed: none}\n"
            "slo: {ttft_ms: none, targets: none}\n");
        QVERIFY(parsed.errors.empty());
        Profile p;
        p.slo.ttftMs.reset();
        p.slo.targets.clear();
        QVERIFY(parsed.profile == p);
    }

    void everyFaultInItsPlace() {
        const QStringList expected = {
            "1:1 unknown section 'modle'; did you mean 'model'?",
            "4:3 unknown key 'max_batch_token' in section 'scheduler'; did you mean 'max_batch_tokens'?",
            "5:29 scheduler.max_concurrent_sequences must be from 1 to 1024, not 5000",
            "6:11 scheduler.policy must be one of fcfs, priority, shortest_prompt, longest_prefix, not 'fcsf'; did you "
            "mean 'fcfs'?",
            "7:14 scheduler.max_queue must be a whole number, not a text in quotes",
            "8:3 unknown key 'kv_cache' in section 'scheduler'; it belongs in section 'cache'",
            "10:13 cache.kv_cache must be true or false, not 'yes'",
            "11:3 key 'kv_cache' is given twice; the first is on line 10",
            "12:17 cache.block_tokens must be one of 1, 8, 16, 32, 64, not 12",
            "13:1 key 'temperature' belongs in section 'sampling'",
            "14:1 section 'routing' is not supported by this build yet",
            "17:3 response.cancel_on_disconnect has no value; it must be true or false",
            "18:1 key 'cache' is given twice; the first is on line 9",
        };
        const std::string yaml =
            "modle:\n"
            "  precision: f32\n"
            "scheduler:\n"
            "  max_batch_token: 5\n"
            "  max_concurrent_sequences: 5000\n"
            "  policy: fcsf\n"
            "  max_queue: \"12\"\n"
            "  kv_cache: true\n"
            "cache:\n"
            "  kv_cache: yes\n"
            "  kv_cache: true\n"
            "  block_tokens: 12\n"
            "temperature: 0.5\n"
            "routing: {a: 1}\n"
            "response:\n"
            "  streaming: false\n"
            "  cancel_on_disconnect:\n"
            "cache: {}\n";
        const auto got = errorsOf(yaml);
        for (int i = 0; i < std::min(got.size(), expected.size()); ++i) QCOMPARE(got[i], expected[i]);
        QCOMPARE(got.size(), expected.size());
        // What was right is taken, what was wrong keeps its default.
        const auto parsed = parseProfile(yaml);
        QCOMPARE(parsed.profile.response.streaming, false);
        QCOMPARE(parsed.profile.scheduler.maxConcurrentSequences, std::int64_t{16});
        QCOMPARE(parsed.profile.cache.kvCache, true);
    }

    void wrongValues_data() {
        QTest::addColumn<QString>("yaml");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* yaml, const char* expected) { QTest::newRow(yaml) << yaml << expected; };
        row("model: {max_context_tokens: 0}", "1:29 model.max_context_tokens must be from 1 to 2147483647, not 0");
        row("model: {max_context_tokens: 1e3}",
            "1:29 model.max_context_tokens must be a whole number in plain digits (as 4096), not '1e3'");
        row("model: {max_context_tokens: -1}", "1:29 model.max_context_tokens must be from 1 to 2147483647, not -1");
        row("model: {precision: [f32]}",
            "1:20 model.precision must be one of as_stored, f32, bf16, f16, fp8, int8, q6_k, q4_k, q4_0");
        row("model: {precision: F32}",
            "1:20 model.precision must be one of as_stored, f32, bf16, f16, fp8, int8, q6_k, q4_k, q4_0, not 'F32'; "
            "did you mean 'f32'?");
        row("model: {path: ''}", "1:15 model.path is an empty text; write null to leave it unset");
        row("model: [1]", "1:8 section 'model' must hold keys, one a line, indented");
        row("model: f32", "1:8 section 'model' must hold keys, one a line, indented");
        row("scheduler: {max_batch_tokens: }",
            "1:13 scheduler.max_batch_tokens has no value; it must be a whole number");
        row("scheduler: {max_batch_tokens: [1]}", "1:31 scheduler.max_batch_tokens must be a whole number, not a list");
        row("scheduler: {max_batch_tokens: 1048577}",
            "1:31 scheduler.max_batch_tokens must be from 1 to 1048576, not 1048577");
        row("scheduler: {max_queue: 010}",
            "1:24 scheduler.max_queue must not start with a zero (some programs read '010' as octal)");
        row("scheduler: {prefill_time_ms: 1001}", "1:30 scheduler.prefill_time_ms must be from 0 to 1000, not 1001");
        row("cache: {memory: 4 G}", "1:17 cache.memory must be bytes (as 4 GiB, 512 MiB or 1073741824), not '4 G'");
        row("cache: {memory: 0}", "1:17 cache.memory must be more than 0 bytes");
        row("device: {deterministic: maybe}", "1:25 device.deterministic must be true or false, not 'maybe'");
        row("sampling: {temperature: .nan}", "1:25 sampling.temperature must be a number (as 0.7), not '.nan'");
        row("sampling: {temperature: -0.1}", "1:25 sampling.temperature must be from 0 to 100, not -0.1");
        row("sampling: {top_p: 1.01}", "1:19 sampling.top_p must be from 0 to 1, not 1.01");
        row("sampling: {seed: -1}", "1:18 sampling.seed must not be negative, as '-1' is");
        row("sampling: {logit_bias: [1]}", "1:24 sampling.logit_bias must be a map, as {50256: -100}");
        row("sampling: {logit_bias: {a: 1}}", "1:25 sampling.logit_bias needs token ids as keys, which 'a' is not");
        row("sampling: {logit_bias: {1: 2000}}", "1:28 sampling.logit_bias must be from -1000 to 1000, not 2000");
        row("sampling: {logit_bias: {1: 2, 1: 3}}", "1:31 key '1' is given twice; the first is on line 1");
        row("slo: {ttft_ms: 0}", "1:16 slo.ttft_ms must be more than 0, not 0");
        row("slo: {targets: ttft}", "1:16 slo.targets must be a list, as [ttft p95 <= 650 ms]");
        row("slo: {targets: [fast]}",
            "1:17 slo.targets must read as 'ttft p95 <= 650 ms' (ttft, itl, tpot, e2e or queue), not 'fast'");
        row("slo: {targets: [ttft p95 <= 1 s, ttft p95 <= 2 s]}",
            "1:34 slo.targets limits the same quantile twice: 'ttft p95 <= 2 s'");
        row("cost: {per_hour: -1}", "1:18 cost.per_hour must be at least 0, not -1");
        row("cost: {currency: a very long name of a currency}", "1:18 cost.currency is longer than 16 bytes");
        row("speculation:\n  draft: 3", "1:1 section 'speculation' is not supported by this build yet");
        row("path: {}", "1:1 section 'path' is not supported by this build yet");
        row("serve:", "1:1 section 'serve' is not supported by this build yet");
        row("[1, 2]", "1:1 a profile holds sections (model:, scheduler:, cache: ...); this is a list");
        row("hello", "1:1 a profile holds sections (model:, scheduler:, cache: ...); this is a single text");
        row("? [a]\n: 1", "1:3 a key must be a word");
    }
    void wrongValues() {
        QFETCH(QString, yaml);
        QFETCH(QString, expected);
        QCOMPARE(errorsOf(yaml.toStdString()), QStringList{expected});
        QVERIFY(parseProfile(yaml.toStdString()).profile.scheduler == Profile{}.scheduler);
    }

    void columnsCountCharacters() {
        QCOMPARE(errorsOf("model: {path: \"/größe/模型\", precision: x}"),
                 QStringList{"1:39 model.precision must be one of as_stored, f32, bf16, f16, fp8, int8, q6_k, q4_k, "
                             "q4_0, not 'x'"});
    }

    void samplingIsCheckedAlone() {
        SamplingSettings sampling;
        QVERIFY(checkSampling(sampling).ok());
        sampling.topP = 2;
        QCOMPARE(checkSampling(sampling).error().message, std::string("sampling.top_p must be from 0 to 1, not 2"));
        sampling = {};
        sampling.temperature = std::numeric_limits<double>::quiet_NaN();
        QCOMPARE(checkSampling(sampling).error().code, ErrorCode::BadInput);
        sampling = {};
        sampling.logitBias[3] = std::numeric_limits<double>::infinity();
        QVERIFY(!checkSampling(sampling).ok());
    }
};

FIRSTTOKEN_TEST_CLASS(TestParse);
#include "test_parse.moc"
