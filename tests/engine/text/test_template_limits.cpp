#include "engine/text.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

/// Templates that want to hurt, and where an error says it is.
class TestTemplateLimits : public QObject {
    Q_OBJECT
private slots:
    void hostile_data();
    void hostile();
    void longButHarmless();
    void errorsNameTheLine_data();
    void errorsNameTheLine();
    void badGivenValues_data();
    void badGivenValues();
    void dates();
};

static std::string repeated(const std::string& text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
}

void TestTemplateLimits::hostile_data() {
    QTest::addColumn<std::string>("source");
    const auto row = [](const char* name, const std::string& source) { QTest::newRow(name) << source; };
    row("parentheses", "{{ " + repeated("(", 100000) + "1" + repeated(")", 100000) + " }}");
    row("open parentheses", "{{ " + repeated("(", 100000));
    row("lists", "{{ " + repeated("[", 100000) + repeated("]", 100000) + " }}");
    row("dicts", "{{ " + repeated("{1:", 50000) + "1" + repeated("}", 50000) + " }}");
    row("sums", "{{ 1" + repeated("+1", 100000) + " }}");
    row("products", "{{ 1" + repeated("*1", 100000) + " }}");
    row("ands", "{{ 1" + repeated(" and 1", 100000) + " }}");
    row("nots", "{{ " + repeated("not ", 100000) + "1 }}");
    row("minuses", "{{ " + repeated("- ", 100000) + "1 }}");
    row("attributes", "{{ a" + repeated(".b", 100000) + " }}");
    row("items", "{{ a" + repeated("[0]", 100000) + " }}");
    row("calls", "{{ a" + repeated("()", 100000) + " }}");
    row("filters", "{{ 1" + repeated("|abs", 100000) + " }}");
    row("tests", "{{ 1" + repeated(" is none", 3) + " }}");
    row("else chains", "{{ " + repeated("1 if 0 else ", 100000) + "1 }}");
    row("ifs", repeated("{% if 1 %}", 100000));
    row("fors", repeated("{% for x in [1] %}", 100000));
    row("targets", "{% for " + repeated("(", 100000) + "a in b %}");
    row("endless loops", "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}");
    row("endless recursion", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}");
    row("mutual recursion", "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}");
    row("recursive loop", "{% for n in [1] recursive %}{{ loop([1]) }}{% endfor %}");
    row("recursion through call", "{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{{ m() }}");
    row("recursion through filters",
        "{% macro m(x) %}{% filter upper %}{% set y %}{{ m([x]) }}{% endset %}{% endfilter %}{% endmacro %}{{ m(1) }}");
    row("huge output", "{% for a in range(9999) %}{{ 'x' * 1000000 }}{% endfor %}");
    row("huge text", "{{ 'x' * 10000000000 }}");
    row("doubling", "{% set n = namespace(s='x') %}{% for a in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}");
    row("doubling lists",
        "{% set n = namespace(s=[1]) %}{% for a in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}");
    row("shared doubling",
        "{% set n = namespace(s='x') %}{% for a in range(99) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s }}");
    row("nesting", "{% set n = namespace(s=1) %}{% for a in range(9999) %}{% set n.s = [n.s] %}{% endfor %}");
    row("many big texts",
        "{% set n = namespace(s=[]) %}{% for a in range(9999) %}{% set n.s = n.s + ['x' * 9000000 ~ a] %}{% endfor %}");
    row("wide centre", "{{ 'x' | center(1000000000000) }}");
    row("wide format", "{{ '%1000000000d' % 1 }}");
    row("wide justify", "{{ 'x'.ljust(99999999999) }}");
    row("big range", "{{ range(100000000) }}");
    row("overflow", "{{ 4611686018427387904 * 4 }}");
    row("power", "{{ 10 ** 10 ** 10 }}");
    row("long number", "{{ 123456789012345678901234567890 }}");
    row("replace", "{% set a = 'x' * 100000 %}{{ a.replace('x', a) }}");
    row("join", "{{ ('x' * 100000).join(range(99999) | map('string')) }}");
    row("indent", "{{ ('\n' * 10000000) | indent('x' * 100000, blank=true) }}");
    row("sort", "{% for a in range(9999) %}{% set b = range(99999) | sort(reverse=true) %}{% endfor %}");
    row("json",
        "{% set n = namespace(s='x' * 1000) %}{% for a in range(30) %}{% set n.s = [n.s, n.s] %}{% endfor %}"
        "{{ n.s | tojson }}");
}

void TestTemplateLimits::hostile() {
    QFETCH(std::string, source);
    const auto pieces = renderTemplate(source, "{}");
    QVERIFY(!pieces.ok());
    QCOMPARE(pieces.error().code, ErrorCode::BadInput);
    QVERIFY2(pieces.error().line == 1 || source.find('\n') != std::string::npos, pieces.error().message.c_str());
    QVERIFY(pieces.error().message.size() < 500);
}

void TestTemplateLimits::longButHarmless() {
    const auto text = [](const std::string& source, const std::string& given = "{}") {
        const auto pieces = renderTemplate(source, given);
        if (!pieces.ok()) qFatal("%s", pieces.error().message.c_str());
        std::string out;
        for (const RenderedPiece& piece : *pieces) out += piece.text;
        return out;
    };
    std::string chain = "{% if 0 %}";
    for (int i = 0; i < 5000; ++i) chain += "{% elif 0 %}";
    QCOMPARE(text(chain + "{% else %}x{% endif %}"), std::string("x"));
    QCOMPARE(text(repeated("{% if 1 %}a{% endif %}", 5000)), repeated("a", 5000));
    QCOMPARE(text("{{ 'a'" + repeated(" ~ 'a'", 5000) + " }}"), repeated("a", 5001));
    // Things that hold themselves must not leak (the address sanitizer watches).
    QCOMPARE(text("{% set n = namespace() %}{% set n.n = n %}{{ n.n.n is defined }}"), std::string("True"));
    QCOMPARE(text("{% set n = namespace() %}{% set n.n = [n, {'a': n}] %}x"), std::string("x"));
    QCOMPARE(text("{% for a in [1,2] %}{{ loop.changed(loop) }}{% endfor %}"), std::string("TrueFalse"));
    QCOMPARE(text("{% macro m() %}{% endmacro %}{% set n = namespace(m=m) %}{% set n.l = [m, n] %}y"),
             std::string("y"));
    QCOMPARE(
        text("{% set n = namespace(s=0) %}{% for a in range(50000) %}{% set n.s = namespace(s=n.s) %}{% endfor %}z"),
        std::string("z"));
    std::string messages;
    for (int i = 0; i < 20000; ++i) messages += std::string(i > 0 ? "," : "") + R"({"role":"user","content":"abc"})";
    QCOMPARE(text("{% for m in messages %}{{ '<' + m.role + '>' + m['content'] }}{% endfor %}",
                  "{\"messages\":[" + messages + "]}"),
             repeated("<user>abc", 20000));
}

void TestTemplateLimits::errorsNameTheLine_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<int>("line");
    QTest::addColumn<QString>("part");
    QTest::newRow("unclosed if") << "a\n{% if x %}\nb\n" << 2 << "endif";
    QTest::newRow("unknown statement") << "a\n\n{% frob %}" << 3 << "frob";
    QTest::newRow("unsupported statement") << "\n{% include 'x' %}" << 2 << "include";
    QTest::newRow("unclosed expression") << "\n{{ a" << 2 << "}}";
    QTest::newRow("unclosed string") << "\n\n{{ 'a }}" << 3 << "string";
    QTest::newRow("unclosed comment") << "\n{# a" << 2 << "comment";
    QTest::newRow("unclosed raw") << "\n{% raw %} a" << 2 << "endraw";
    QTest::newRow("bracket") << "\n{{ (1] }}" << 2 << "']'";
    QTest::newRow("operator") << "\n\n\n{{ 1 + }}" << 4 << "unexpected";
    QTest::newRow("break outside") << "\n{% break %}" << 2 << "break";
    QTest::newRow("filter") << "\n{{ 1 | frob }}" << 2 << "frob";
    QTest::newRow("test") << "\n{{ 1 is frob }}" << 2 << "frob";
    QTest::newRow("undefined") << "\n{{ a.b }}" << 2 << "'a' is undefined";
    QTest::newRow("undefined call") << "x\n{{ 'a'.frob() }}" << 2 << "frob";
    QTest::newRow("types") << "\n{{\n 'a' + 1 }}" << 3 << "concatenate";
    QTest::newRow("in a macro") << "{% macro m() %}\n{{ 1 / 0 }}\n{% endmacro %}\n{{ m() }}" << 2 << "division";
    QTest::newRow("raised") << "\r\n{{ raise_exception('no such role') }}" << 2 << "no such role";
    QTest::newRow("changing a list") << "\n{% set x = [].append(1) %}" << 2 << "list";
    QTest::newRow("invalid UTF-8") << QString() << 0 << "UTF-8";
}

void TestTemplateLimits::errorsNameTheLine() {
    QFETCH(QString, source);
    QFETCH(int, line);
    QFETCH(QString, part);
    const auto pieces = renderTemplate(source.isEmpty() ? "a\xFF" : source.toStdString(), "{}");
    QVERIFY(!pieces.ok());
    QCOMPARE(pieces.error().code, ErrorCode::BadInput);
    QCOMPARE(pieces.error().line, line);
    QVERIFY2(pieces.error().message.find(part.toStdString()) != std::string::npos, pieces.error().message.c_str());
    if (line > 0) QVERIFY(pieces.error().message.find("line " + std::to_string(line)) != std::string::npos);
}

void TestTemplateLimits::badGivenValues_data() {
    QTest::addColumn<std::string>("given");
    QTest::newRow("no JSON") << std::string("{messages}");
    QTest::newRow("truncated") << std::string("{\"a\": [1, 2");
    QTest::newRow("a list") << std::string("[]");
    QTest::newRow("nothing") << std::string();
    QTest::newRow("nested") << repeated("[", 100000);
    QTest::newRow("nested in an object") << "{\"a\":" + repeated("[", 200) + repeated("]", 200) + "}";
    QTest::newRow("invalid UTF-8") << std::string("{\"a\": \"\xFF\"}");
}

void TestTemplateLimits::badGivenValues() {
    QFETCH(std::string, given);
    const auto pieces = renderTemplate("x", given);
    QVERIFY(!pieces.ok());
    QCOMPARE(pieces.error().code, ErrorCode::BadInput);
}

void TestTemplateLimits::dates() {
    const auto text = [](const std::string& format, const std::string& now) {
        const auto pieces = renderTemplate("{{ strftime_now('" + format + "') }}", "{}", now);
        return pieces.ok() ? (pieces->empty() ? std::string() : pieces->front().text) : pieces.error().message;
    };
    QCOMPARE(text("%B %d, %Y", "2026-11-29"), std::string("November 29, 2026"));
    QCOMPARE(text("%d %b %y %A %a %j %-d %m %e", "2024-03-05"), std::string("05 Mar 24 Tuesday Tue 065 5 03  5"));
    QCOMPARE(text("%H:%M:%S %I %p %% %F %D", "2000-02-29"), std::string("00:00:00 12 AM % 2000-02-29 02/29/00"));
    QVERIFY(text("%Y-%m-%d", "").size() == 10);
    QVERIFY(text("%Q", "2026-11-29").find("%Q") != std::string::npos);
    for (const char* bad : {"2026-02-29", "2026-13-01", "26-01-01", "2026-1-1", "yesterday", "2026-01-00"}) {
        QVERIFY(text("%Y", bad).find("no date") != std::string::npos);
    }
}

FIRSTTOKEN_TEST_CLASS(TestTemplateLimits);
#include "test_template_limits.moc"
