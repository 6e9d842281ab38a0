#pragma once

#include "engine/text/jinja/interpreter.h"

namespace firsttoken::engine::jinja {

/// What `loop` is within a for statement; called, it runs the statement again on other items.
class Loop final : public Object, public std::enable_shared_from_this<Loop> {
public:
    Loop(const Statement& statement, std::weak_ptr<Scope> around, std::vector<Value> items, int depth)
        : m_statement(statement), m_around(std::move(around)), m_items(std::move(items)), m_depth(depth) {}

    std::size_t size() const { return m_items.size(); }
    bool valid() const { return m_at < m_items.size(); }
    const Value& item() const { return m_items[m_at]; }
    void advance() { ++m_at; }

    Value call(Interpreter& interpreter, Arguments arguments) override;
    std::optional<Value> attribute(Interpreter& interpreter, std::string_view name) override;
    std::string description() const override;

    /// At its end the loop lets go of what changed() kept, which may be the loop itself.
    class Running {
    public:
        explicit Running(Loop& loop) : m_loop(loop) {}
        ~Running() {
            m_loop.m_running = false;
            m_loop.m_last.reset();
        }
        Running(const Running&) = delete;
        Running& operator=(const Running&) = delete;

    private:
        Loop& m_loop;
    };

    /// loop.changed(…): whether the values are others than at the last call.
    bool changed(const std::vector<Value>& values);
    std::size_t index() const { return m_at; }

private:
    const Statement& m_statement;
    std::weak_ptr<Scope> m_around;
    std::vector<Value> m_items;
    std::size_t m_at = 0;
    int m_depth = 1;
    bool m_running = true;
    std::optional<std::vector<Value>> m_last;
};

}  // namespace firsttoken::engine::jinja
