/// A hot path, cut out so that its instructions can be counted.
struct MicroPath: Sendable {
    let name: String
    let what: String
    /// How many operations `bench/micro` runs the first time, and twice as many the second: enough for what happens only
    /// now and then (a buffer that grows, a hash table that is rebuilt) to weigh less than a thousandth.
    let operations: Int
    /// Runs so many operations. What it returns depends on all of them, so that none can be optimised away.
    /// What any part of it throws passes through to `main` and ends the program: no figure may come of work that was not done.
    let run: @Sendable (Int) throws -> Int

    init(_ name: String, _ operations: Int, _ what: String, run: @escaping @Sendable (Int) throws -> Int) {
        (self.name, self.operations, self.what, self.run) = (name, operations, what, run)
    }

    static let all = wire + scheduling + counting + storage
}
