/// A name of SQLite's, so that two that SQLite takes for one are equal, and no others.
///
/// SQLite folds the letters of ASCII and compares all other bytes as they are. (sqlite3_stricmp has "the same definition of "case
/// independence" that SQLite uses internally when comparing identifiers", https://www.sqlite.org/c3ref/stricmp.html, and takes
/// "é" and "É" for two.) Swift's `lowercased()` makes one name of these, and its `==` of strings one of the two ways to write "é"
/// in Unicode.
struct FoldedName: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ name: some StringProtocol) { bytes = name.utf8.map(lowerASCII) }

    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension StringProtocol {
    var foldedName: FoldedName { FoldedName(self) }
}
