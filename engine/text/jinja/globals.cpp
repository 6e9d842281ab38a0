#include "engine/text/jinja/arguments.h"
#include "engine/text/jinja/builtins.h"
#include "engine/text/jinja/formatting.h"
#include "engine/text/jinja/printing.h"
#include "engine/text/jinja/template_error.h"

namespace firsttoken::engine::jinja {

namespace {

constexpr std::int64_t maxRange = 100'000;

using FunctionBody = Value (*)(Interpreter& interpreter, Arguments arguments);

class Function final : public Object {
public:
    Function(std::string name, FunctionBody body) : m_name(std::move(name)), m_body(body) {}
    Value call(Interpreter& interpreter, Arguments arguments) override {
        return m_body(interpreter, std::move(arguments));
    }
    std::string description() const override { return "<function " + m_name + ">"; }

private:
    std::string m_name;
    FunctionBody m_body;
};

/// Gives nothing the first time it is called, then its separator.
class Joiner final : public Object {
public:
    explicit Joiner(Value separator) : m_separator(std::move(separator)) {}
    Value call(Interpreter&, Arguments) override {
        if (m_used) return m_separator;
        m_used = true;
        return Value::text("");
    }
    std::string description() const override { return "<Joiner>"; }

private:
    Value m_separator;
    bool m_used = false;
};

class Cycler final : public Object, public std::enable_shared_from_this<Cycler> {
public:
    explicit Cycler(std::vector<Value> items) : m_items(std::move(items)) {}
    Value call(Interpreter&, Arguments) override { throw TemplateError("'Cycler' object is not callable"); }
    bool callable() const override { return false; }
    std::optional<Value> attribute(Interpreter&, std::string_view name) override;
    std::string description() const override { return "<Cycler>"; }

    Value current() const { return m_items[m_at]; }
    Value next() {
        Value value = current();
        m_at = (m_at + 1) % m_items.size();
        return value;
    }
    void reset() { m_at = 0; }

private:
    std::vector<Value> m_items;
    std::size_t m_at = 0;
};

class CyclerMethod final : public Object {
public:
    CyclerMethod(std::shared_ptr<Cycler> cycler, bool advances) : m_cycler(std::move(cycler)), m_advances(advances) {}
    Value call(Interpreter&, Arguments) override {
        if (m_advances) return m_cycler->next();
        m_cycler->reset();
        return Value();
    }
    std::string description() const override { return m_advances ? "<Cycler.next>" : "<Cycler.reset>"; }

private:
    std::shared_ptr<Cycler> m_cycler;
    bool m_advances;
};

std::optional<Value> Cycler::attribute(Interpreter&, std::string_view name) {
    if (name == "current") return current();
    if (name == "next" || name == "reset") {
        return Value(ObjectPointer(std::make_shared<CyclerMethod>(shared_from_this(), name == "next")));
    }
    return std::nullopt;
}

/// Keyword arguments on top of those of one mapping or list of pairs.
Dict dictFrom(Interpreter& interpreter, Arguments arguments) {
    Dict dict;
    if (arguments.positional.size() > 1) throw TemplateError("dict expected at most 1 argument");
    if (!arguments.positional.empty()) {
        const Value& from = arguments.positional[0];
        if (const Dict* other = from.dict()) {
            dict = *other;
        } else {
            for (const Value& pair : interpreter.iterate(from)) {
                std::vector<Value> parts = interpreter.iterate(pair);
                if (parts.size() != 2) throw TemplateError("dict() needs pairs of a key and a value");
                dict.set(std::move(parts[0]), std::move(parts[1]));
            }
        }
    }
    for (auto& [name, value] : arguments.named) dict.set(Value::text(name), std::move(value));
    return dict;
}

Value makeDict(Interpreter& interpreter, Arguments arguments) {
    return Value(dictFrom(interpreter, std::move(arguments)));
}

Value makeNamespace(Interpreter& interpreter, Arguments arguments) {
    return interpreter.makeNamespace(dictFrom(interpreter, std::move(arguments)));
}

Value range(Interpreter& interpreter, Arguments arguments) {
    const std::size_t count = arguments.positional.size();
    const ArgumentList list("range", std::move(arguments), {"start", "stop", "step"}, 1);
    const std::int64_t start = count == 1 ? 0 : list.integerOr(0, 0);
    const std::int64_t stop = count == 1 ? list.integerOr(0, 0) : list.integerOr(1, 0);
    const std::int64_t step = list.integerOr(2, 1);
    if (step == 0) throw TemplateError("range() arg 3 must not be zero");
    std::vector<Value> items;
    for (std::int64_t at = start; step > 0 ? at < stop : at > stop;) {
        if (static_cast<std::int64_t>(items.size()) >= maxRange) {
            throw TemplateError("Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).");
        }
        items.emplace_back(at);
        if (__builtin_add_overflow(at, step, &at)) break;
    }
    interpreter.tick(items.size());
    return Value::sequence(SequenceKind::Range, std::move(items));
}

Value raiseException(Interpreter&, Arguments arguments) {
    const ArgumentList list("raise_exception", std::move(arguments), {"message"}, 1);
    throw TemplateError(toText(list[0]).bytes());
}

Value strftimeNow(Interpreter& interpreter, Arguments arguments) {
    const ArgumentList list("strftime_now", std::move(arguments), {"format"}, 1);
    const Date now = interpreter.now();
    return Value::text(formatDate(list.string(0).view(), now.year, now.month, now.day));
}

Value makeJoiner(Interpreter&, Arguments arguments) {
    const ArgumentList list("joiner", std::move(arguments), {"sep"});
    return Value(ObjectPointer(std::make_shared<Joiner>(list.orElse(0, Value::text(", ")))));
}

Value makeCycler(Interpreter&, Arguments arguments) {
    if (arguments.positional.empty()) throw TemplateError("at least one item has to be provided");
    return Value(ObjectPointer(std::make_shared<Cycler>(std::move(arguments.positional))));
}

struct NamedFunction {
    std::string_view name;
    FunctionBody body;
};
constexpr NamedFunction functions[] = {{"range", range},
                                       {"dict", makeDict},
                                       {"namespace", makeNamespace},
                                       {"raise_exception", raiseException},
                                       {"strftime_now", strftimeNow},
                                       {"joiner", makeJoiner},
                                       {"cycler", makeCycler}};

}  // namespace

std::optional<Value> globalFunction(std::string_view name) {
    const FunctionBody body = findNamed(std::span(functions), name);
    if (body == nullptr) return std::nullopt;
    return Value(ObjectPointer(std::make_shared<Function>(std::string(name), body)));
}

}  // namespace firsttoken::engine::jinja
