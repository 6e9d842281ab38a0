#pragma once

#include <QByteArray>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcessEnvironment>
#include <QStringList>
#include <QTemporaryDir>

/// Runs the built firsttoken-cli as a stranger's script would: no terminal, its own models folder.
namespace firsttoken::tests {

struct CliResult {
    int exitCode = -1;  ///< 128 + signal where a signal ended it
    QByteArray out;
    QByteArray err;

    QJsonObject object() const { return QJsonDocument::fromJson(out).object(); }
    QJsonArray array() const { return QJsonDocument::fromJson(out).array(); }
    /// For QVERIFY2.
    const char* told() const { return err.constData(); }
    /// Nothing on stdout, one sentence and at most one line of advice on stderr.
    bool isOneSentence() const;
};

/// A folder for the files of one test, and the models folder of the program (empty at first).
class CliBench {
public:
    QString path(const QString& name) const { return m_folder.filePath(name); }
    QString models() const { return m_folder.filePath("models"); }
    /// Writes a file and returns its path.
    QString file(const QString& name, const QByteArray& bytes) const;
    /// Puts a fixture into the models folder under this name.
    void addModel(const char* fixtureName, const QString& as) const;
    CliResult run(const QStringList& arguments, const QByteArray& input = {}) const;
    /// What a program of this bench starts with: models, database and all else lie in its folder.
    QProcessEnvironment variables() const;

    QStringList environment;  ///< further NAME=VALUE

private:
    QTemporaryDir m_folder;
};

/// tests/fixtures/NAME.
QString fixturePath(const char* name);

}  // namespace firsttoken::tests
