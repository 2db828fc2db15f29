import SQLite

/// A row that can be encoded: the one a statement stands on, or one that was kept (`KeptRows`).
///
/// Generic and not existential where rows are encoded, so that a statement's are read without a witness table.
protocol RowValues: AnyObject {
    func storageClass(_ column: Int) -> StorageClass
    func integer(_ column: Int) -> Int64
    func double(_ column: Int) -> Double
    /// Asked only where the storage class is text; likewise for blobs.
    func text(_ column: Int) -> UnsafeRawBufferPointer
    func blob(_ column: Int) -> UnsafeRawBufferPointer
}

extension Statement: RowValues {}
