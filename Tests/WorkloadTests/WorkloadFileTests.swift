import Glibc
import Testing

@testable import Workload

/// The files in bench/workloads.
@Suite struct WorkloadFileTests {
    static let directory =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/") + "/bench/workloads"

    static var names: [String] {
        guard let handle = opendir(directory) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".toml") { names.append(name) }
        }
        return names.sorted()
    }

    @Test func allAreThere() {
        #expect(Self.names.count >= 20)
    }

    @Test(arguments: names)
    func canBeRead(_ name: String) throws {
        let file = try #require(fopen("\(Self.directory)/\(name)", "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, file)
        let workload = try Workload(String(decoding: bytes[..<count], as: UTF8.self))
        #expect(!workload.description.isEmpty && workload.data != .none)
        for clientClass in workload.classes { _ = ClassPlan(clientClass) }
    }
}
