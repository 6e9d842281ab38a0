#include "engine/text/jinja/loop.h"

#include "engine/text/jinja/arguments.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

namespace {

/// loop.cycle and loop.changed: they hold the loop they belong to.
class LoopMethod final : public Object {
public:
    LoopMethod(std::shared_ptr<Loop> loop, bool cycles) : m_loop(std::move(loop)), m_cycles(cycles) {}

    Value call(Interpreter&, Arguments arguments) override {
        if (!m_cycles) return Value(m_loop->changed(arguments.positional));
        if (arguments.positional.empty()) throw TemplateError("no items for cycling given");
        return arguments.positional[m_loop->index() % arguments.positional.size()];
    }
    std::string description() const override { return m_cycles ? "<loop.cycle>" : "<loop.changed>"; }

private:
    std::shared_ptr<Loop> m_loop;
    bool m_cycles;
};

}  // namespace

Value Loop::call(Interpreter& interpreter, Arguments arguments) {
    if (!m_statement.recursive) {
        throw TemplateError("The loop must have the 'recursive' marker to be called recursively.");
    }
    const ArgumentList list("loop", std::move(arguments), {"iterable"}, 1);
    return Value(interpreter.runLoop(m_statement, list[0], m_around.lock(), m_depth + 1));
}

std::optional<Value> Loop::attribute(Interpreter&, std::string_view name) {
    if (name == "index") return Value::integer(m_at + 1);
    if (name == "index0") return Value::integer(m_at);
    if (name == "first") return Value(m_at == 0);
    if (name == "last") return Value(m_at + 1 == m_items.size());
    if (name == "length") return Value::integer(m_items.size());
    if (name == "revindex") return Value::integer(m_items.size() - m_at);
    if (name == "revindex0") return Value::integer(m_items.size() - m_at - 1);
    if (name == "depth") return Value(std::int64_t{m_depth});
    if (name == "depth0") return Value(std::int64_t{m_depth - 1});
    if (name == "previtem") return m_at > 0 ? m_items[m_at - 1] : Value::undefined("there is no previous item");
    if (name == "nextitem") {
        return m_at + 1 < m_items.size() ? m_items[m_at + 1] : Value::undefined("there is no next item");
    }
    if (name == "cycle" || name == "changed") {
        return Value(ObjectPointer(std::make_shared<LoopMethod>(shared_from_this(), name == "cycle")));
    }
    return std::nullopt;
}

std::string Loop::description() const {
    return "<LoopContext " + std::to_string(m_at + 1) + "/" + std::to_string(m_items.size()) + ">";
}

bool Loop::changed(const std::vector<Value>& values) {
    const bool same = m_last && m_last->size() == values.size() &&
                      std::equal(values.begin(), values.end(), m_last->begin(), areEqual);
    if (m_running) m_last = values;
    return !same;
}

}  // namespace firsttoken::engine::jinja
