#pragma once

#include <QObject>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// Registers a Qt Test class with its binary: FIRSTTOKEN_TEST_CLASS(TestFoo) after the class, then the .moc include.
namespace firsttoken::tests {

struct TestClass {
    std::string name;
    std::function<std::unique_ptr<QObject>()> make;
};

std::vector<TestClass>& testClasses();

struct Registration {
    Registration(const char* name, std::function<std::unique_ptr<QObject>()> make) {
        testClasses().push_back({name, std::move(make)});
    }
};

}  // namespace firsttoken::tests

#define FIRSTTOKEN_TEST_CLASS(type)                                     \
    static const ::firsttoken::tests::Registration type##Registration { \
        #type, [] { return std::make_unique<type>(); }                  \
    }
