// swift-tools-version: 6.2
import PackageDescription

/// Swift 6 language mode with strict concurrency for every target of ours. A release build optimises across
/// modules, because the path of a row crosses three of them.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    // What the compiler can prove about exclusive access it proves in every build; what is left to a check while the
    // program runs is checked in debug builds, which is what `make test` and the sanitizers run. In a release build
    // those checks cost 4 % of point SELECTs at 8 clients and 8 % at 64.
    .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]

let package = Package(
    name: "walpool",
    products: [
        .executable(name: "walpoold", targets: ["walpoold"]),
        .executable(name: "walpool-load", targets: ["walpool-load"]),
        // Both for bench/grdb, a package of its own, so that nothing else here depends on GRDB.
        .library(name: "POSIX", targets: ["POSIX"]),
        .library(name: "Workload", targets: ["Workload"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ],
    targets: [
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .target(name: "POSIX", dependencies: ["CLinux"], swiftSettings: settings),
        .target(name: "CHeap", dependencies: ["CSQLite"]),
        .target(name: "CCommitFrames", dependencies: ["CSQLite"]),
        .target(name: "CFileMap", dependencies: ["CSQLite"]),
        .target(name: "COwnWAL", dependencies: ["CSQLite"]),
        .target(name: "CWriteOut", dependencies: ["CSQLite"]),
        .target(
            name: "SQLite", dependencies: ["CCommitFrames", "CFileMap", "CHeap", "COwnWAL", "CSQLite", "CWriteOut", "POSIX"],
            swiftSettings: settings),
        .target(name: "PostgresWire", swiftSettings: settings),
        .target(
            name: "Scheduling",
            dependencies: [.product(name: "DequeModule", package: "swift-collections")],
            swiftSettings: settings),
        .target(
            name: "Journal", dependencies: ["POSIX", .product(name: "Logging", package: "swift-log")], swiftSettings: settings),
        .target(
            name: "Pool",
            dependencies: ["CLinux", "Journal", "POSIX", "Scheduling", "SQLite", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),
        .target(
            name: "Server",
            dependencies: [
                "CLinux", "Journal", "POSIX", "Pool", "PostgresWire", "Scheduling", "SQLite",
                .product(name: "DequeModule", package: "swift-collections"), .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "Configuration",
            dependencies: [
                "CLinux", "Journal", "POSIX", "Pool", "Server", .product(name: "Logging", package: "swift-log"),
                .product(name: "TOMLKit", package: "TOMLKit"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "walpoold",
            dependencies: [
                "Configuration", "Server", "CSystemd", "Journal", "POSIX", "Pool", "Scheduling", "SQLite",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        // The load generator: what is to be done and what was measured, as values, and the program.
        .target(
            name: "Workload",
            dependencies: [
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "TOMLKit", package: "TOMLKit"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "walpool-load",
            dependencies: [
                "CLinux", "CSQLite", "POSIX", "PostgresWire", "Workload",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings),
        // What several of the test targets use.
        .target(name: "TestSupport", path: "Tests/Support", swiftSettings: settings),
        .testTarget(name: "WorkloadTests", dependencies: ["Workload"], swiftSettings: settings),
        .testTarget(
            name: "SQLiteTests", dependencies: ["CCommitFrames", "CHeap", "CSQLite", "CWriteOut", "SQLite"], swiftSettings: settings),
        .testTarget(name: "PostgresWireTests", dependencies: ["PostgresWire", "TestSupport"], swiftSettings: settings),
        .testTarget(name: "POSIXTests", dependencies: ["POSIX"], swiftSettings: settings),
        .testTarget(name: "JournalTests", dependencies: ["Journal"], swiftSettings: settings),
        .testTarget(name: "SchedulingTests", dependencies: ["Scheduling", "TestSupport"], swiftSettings: settings),
        .testTarget(name: "PoolTests", dependencies: ["POSIX", "Pool", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: ["Configuration", "Journal", .product(name: "TOMLKit", package: "TOMLKit")], swiftSettings: settings),
        .testTarget(name: "ServerTests", dependencies: ["POSIX", "Server", "TestSupport"], swiftSettings: settings),
        // The hot paths one by one, for bench/micro to count the instructions of. `make build` does not build it.
        .executableTarget(
            name: "walpool-micro",
            dependencies: ["POSIX", "Pool", "PostgresWire", "Scheduling", "SQLite", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),
        // What the fuzzers check, on their seeds and on what they once found. Engine/ is libFuzzer's, see Tests/Fuzz/fuzz.
        .testTarget(
            name: "FuzzTests", dependencies: ["POSIX", "Server", "CSQLite"], path: "Tests/Fuzz",
            exclude: ["Engine", "seeds", "regressions", "fuzz", "fuzz.dict", "show"], swiftSettings: settings),
    ]
)
