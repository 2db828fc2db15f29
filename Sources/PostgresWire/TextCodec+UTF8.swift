extension TextCodec {
    /// Whether the bytes are valid UTF-8. SQL, names and text values have to pass this (else 22021) before SQLite sees
    /// them: it does not check, and invalid text has broken quoting in other servers (CVE-2025-1094).
    public static func isValidUTF8(_ text: UnsafeRawBufferPointer) -> Bool {
        text.withMemoryRebound(to: UInt8.self) { bytes in
            do {
                _ = try UTF8Span(validating: bytes.span)
                return true
            } catch {
                return false
            }
        }
    }
}
