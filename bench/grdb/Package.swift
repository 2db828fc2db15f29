// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that building and testing walpoold never builds GRDB:
//
//     swift build -c release --package-path bench/grdb --scratch-path bench/grdb/.build-grdb
let package = Package(
    name: "grdb-load",
    dependencies: [
        // Named, because the name of a path's last directory is whatever the clone is called.
        .package(name: "walpool", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        // Eight of its files are links to walpool-load's: the same clock, the same start, the same end, the same outputs.
        .executableTarget(
            name: "grdb-load",
            dependencies: [
                .product(name: "POSIX", package: "walpool"),
                .product(name: "Workload", package: "walpool"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")])
    ]
)
