import Foundation
import Workload

extension GRDBLoad {
    /// Reads the workload file and puts in what the command line says.
    func runSettings() throws -> RunSettings {
        guard seconds > 0, seconds <= 1e6, warmUp >= 0, warmUp <= 1e6 else { throw UsageError("--seconds is above 0, --warm-up not below") }
        guard RunSettings.progressSeconds.contains(progress) else {
            throw UsageError("--progress is \(RunSettings.progressSeconds.orZero)")
        }
        var workload = try readWorkload()
        do throws(WorkloadError) {
            try workload.set(clients: clients, rate: rate)
        } catch {
            throw UsageError(error.description)
        }
        if let churn = workload.classes.first(where: \.connectsEachTime) {
            throw UsageError("class \"\(churn.name)\" connects for each transaction, which nobody does with a pool")
        }
        return RunSettings(
            name: URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent, workload: workload, seed: seed,
            warmUpSeconds: warmUp, seconds: seconds, progressSeconds: progress, firstInSequence: RunSettings.firstInSequenceNow)
    }

    private func readWorkload() throws -> Workload {
        let text: String
        do {
            text = try String(contentsOfFile: file, encoding: .utf8)
        } catch {
            throw UsageError("\(file): \(error.localizedDescription)")
        }
        do throws(WorkloadError) {
            return try Workload(text, replacing: replacements())
        } catch {
            throw UsageError("\(file): \(error)")
        }
    }

    private func replacements() throws(WorkloadError) -> [String: Int64] {
        var values: [String: Int64] = [:]
        for text in variables {
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let value = Int64(parts[1]) else {
                throw WorkloadError("--set \(text): write VARIABLE=VALUE, with a whole number")
            }
            values[String(parts[0])] = value
        }
        return values
    }
}
