extension String {
    /// Its UTF-8, for the length of the call. `withUTF8` has to be asked of a variable, and lets no typed error through.
    @inlinable
    public func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var copy = self
        return try copy.withUTF8 { bytes in
            Result { () throws(Failure) in try body(UnsafeRawBufferPointer(bytes)) }
        }.get()
    }
}
