extension ConfigurationKey {
    static let working: [ConfigurationKey] = [
        .integer(
            "readers", \.server.pool.readers, 1...1000, .restart, "Read-only connections",
            details: "They are opened when first needed."
        ).option("readers"),
        .choice(
            "synchronous", \.server.pool.durability, .restart, "When a commit waits for the disk: full, pipelined or normal",
            details: """
                full: a commit is visible when it is on the disk, and answered then. pipelined: it is answered when it is on \
                the disk, but visible to others up to one sync earlier; the writer goes on while the disk works, so that \
                transactions which hold the writer alone share syncs too. normal: it is answered before the sync; it \
                survives a crash of the daemon, not of the machine.
                """
        ).option("synchronous"),
        .milliseconds(
            "writer_idle_limit", \.server.pool.writerIdleMilliseconds, .reload,
            "How long a transaction may keep the writer, or a reader, idle while somebody waits",
            details: """
                One that has the writer is rolled back then, with 25P03. One that has a reader (for its snapshot or a cursor) loses it: \
                its next statement gets 40001. 0: as long as it likes.
                """),
        .integer(
            "group_members", \.server.pool.groupMembers, 1...10_000, .reload, "Transactions that may share one commit"),
        .milliseconds(
            "group_time_limit", \.server.pool.groupMilliseconds, .reload,
            "How long a group may take on members before it commits",
            details: "A member that runs for longer behind others is stopped and begins anew, as the first of the next group."),
    ]

    static let checkpointing: [ConfigurationKey] = [
        .integer(
            "checkpoint_frames", \.server.pool.checkpointFrames, 1...10_000_000, unit: "pages", .reload,
            "Pages in the WAL at which a checkpoint is tried", details: "4000 pages of 4 KiB are 16 MB."),
        .integer(
            "wal_limit_bytes", \.server.pool.walLimitBytes, (256 << 10)...(1 << 40), unit: "bytes", .reload,
            "Size the WAL does not outgrow",
            details: """
                From half of it on, writers wait for a checkpoint; from three quarters on, readers do. One transaction that \
                is larger still makes the WAL larger.
                """),
        .milliseconds(
            "gate_limit", \.server.pool.gateMilliseconds, .reload,
            "How long running reads are waited for when the WAL must be emptied",
            details: "Then they end with 57014. Idle snapshots that are older end at once, with 40001."),
    ]
}
