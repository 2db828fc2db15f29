/// Places in a session's output, as `OutputBuffer.end` counts them.
struct ReplyMarks {
    /// Where the last complete reply ends.
    var reply = 0
    /// Where what its client waits for ends: that reply, an error, or what it has asked for by a Flush.
    var awaited = 0
    /// Where the reply to the commit begins: it is cut off there when the commit fails.
    var commit = 0
    /// Where what the client was told of its settings ends.
    var settings = 0
}
