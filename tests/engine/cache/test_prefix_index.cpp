#include <QtTest>

#include "engine/cache/prefix_index.h"
#include "tests/support/test_registry.h"

using namespace firsttoken::engine;

class TestPrefixIndex : public QObject {
    Q_OBJECT

private slots:
    void findsOnlyEqualTokens_data();
    void findsOnlyEqualTokens();
    void namespacesShareNothing();
    void emptyChainsGo();
    void pinsKeepNodes();
    void slotsAreUsedAgain();
    void clearForgetsAll();
};

namespace {
PrefixIndex makeIndex(TokenHash hash = {}) { return PrefixIndex(2, 1, std::move(hash), 7); }
const std::vector<TokenId> ab = {1, 2};
const std::vector<TokenId> ba = {2, 1};
const std::vector<TokenId> cd = {3, 4};
}  // namespace

void TestPrefixIndex::findsOnlyEqualTokens_data() {
    QTest::addColumn<quint64>("mask");
    QTest::newRow("whole hash") << ~quint64(0);
    QTest::newRow("4 bits") << quint64(15);
    QTest::newRow("no hash at all") << quint64(0);
}

void TestPrefixIndex::findsOnlyEqualTokens() {
    QFETCH(quint64, mask);
    PrefixIndex index = makeIndex([mask](NodeId parent, std::span<const TokenId> tokens) -> std::uint64_t {
        std::uint64_t hash = parent;
        for (const TokenId token : tokens) hash = hash * 31 + static_cast<std::uint64_t>(token);
        return hash & mask;
    });
    const NodeId root = index.makeRoot("m");
    index.pin(root);
    const NodeId first = index.makeChild(root, ab);
    index.setBlock(first, 0, 10);
    const NodeId second = index.makeChild(first, ab);  // equal tokens, another parent
    index.setBlock(second, 0, 11);
    QVERIFY(first != second);
    QCOMPARE(index.child(root, ab), first);
    QCOMPARE(index.child(first, ab), second);
    QCOMPARE(index.child(root, ba), noNode);
    QCOMPARE(index.child(second, ab), noNode);
    QCOMPARE(index.makeChild(root, ab), first);
    QCOMPARE(QString::fromStdString(index.check(1)), QString());
}

void TestPrefixIndex::namespacesShareNothing() {
    PrefixIndex index = makeIndex();
    const NodeId a = index.makeRoot("a");
    index.setBlock(index.makeChild(a, ab), 0, 1);
    QCOMPARE(index.root("b"), noNode);
    const NodeId b = index.makeRoot("b");
    QVERIFY(a != b);
    QCOMPARE(index.child(b, ab), noNode);
}

void TestPrefixIndex::emptyChainsGo() {
    PrefixIndex index = makeIndex();
    const NodeId root = index.makeRoot("salt of one caller");
    NodeId node = root;
    std::vector<NodeId> chain;
    for (int i = 0; i < 100000; ++i) {  // as deep as a long context: no recursion
        node = index.makeChild(node, ab);
        index.setBlock(node, 0, static_cast<BlockId>(i));
        chain.push_back(node);
    }
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) index.setBlock(chain[i], 0, noBlock);
    QCOMPARE(index.nodes(), chain.size() + 1);
    QCOMPARE(index.blocks(), std::size_t(1));
    index.setBlock(chain.back(), 0, noBlock);
    QCOMPARE(index.nodes(), std::size_t(0));
    QCOMPARE(index.root("salt of one caller"), noNode);
    QCOMPARE(QString::fromStdString(index.check(0)), QString());
}

void TestPrefixIndex::pinsKeepNodes() {
    PrefixIndex index = makeIndex();
    const NodeId root = index.makeRoot("m");
    index.pin(root);
    index.pin(root);
    const NodeId node = index.makeChild(root, cd);
    index.setBlock(node, 0, 5);
    index.pin(node);
    index.setBlock(node, 0, noBlock);
    QCOMPARE(index.child(root, cd), node);
    index.unpin(node);
    QCOMPARE(index.child(root, cd), noNode);
    index.unpin(root);
    QCOMPARE(index.root("m"), root);
    index.unpin(root);
    QCOMPARE(index.root("m"), noNode);
}

void TestPrefixIndex::slotsAreUsedAgain() {
    PrefixIndex index = makeIndex();
    for (int i = 0; i < 1000; ++i) {
        const NodeId root = index.makeRoot("namespace " + std::to_string(i));
        QVERIFY(root < 2);
        const NodeId node = index.makeChild(root, ab);
        QCOMPARE(index.block(node, 0), noBlock);
        index.setBlock(node, 0, 3);
        index.setBlock(node, 0, noBlock);
        QCOMPARE(index.nodes(), std::size_t(0));
    }
}

void TestPrefixIndex::clearForgetsAll() {
    PrefixIndex index = makeIndex();
    index.setBlock(index.makeChild(index.makeRoot("m"), ab), 0, 1);
    index.clear();
    QCOMPARE(index.nodes(), std::size_t(0));
    QCOMPARE(index.root("m"), noNode);
    QCOMPARE(QString::fromStdString(index.check(0)), QString());
}

FIRSTTOKEN_TEST_CLASS(TestPrefixIndex);
#include "test_prefix_index.moc"
