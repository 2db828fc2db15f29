/// MD5, for md5() and nothing else: https://www.rfc-editor.org/rfc/rfc1321
enum MD5 {
    private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
    /// floor(2^32 * abs(sin(i + 1)))
    private static let constants: [UInt32] = [
        0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
        0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
        0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
        0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
        0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
        0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
        0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
        0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
    ]

    /// nil: the call has failed.
    static func hexadecimal(_ bytes: UnsafeRawBufferPointer, _ call: FunctionCall) -> String? {
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
        var work = FunctionWork()
        let whole = bytes.count / 64 * 64
        for block in stride(from: 0, to: whole, by: 64) {
            guard work.goesOn(64, call) else { return nil }
            mix(bytes, from: block, into: &state)
        }
        ending(of: bytes, from: whole).withUnsafeBytes { ending in
            for block in stride(from: 0, to: ending.count, by: 64) { mix(ending, from: block, into: &state) }
        }
        var text = ""
        for word in state {
            for shift: UInt32 in [0, 8, 16, 24] {
                let byte = UInt8(truncatingIfNeeded: word >> shift)
                text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return text
    }

    /// What is left of a block, padded, with the length in bits: one block or two.
    private static func ending(of bytes: UnsafeRawBufferPointer, from start: Int) -> [UInt8] {
        var ending = Array(bytes[start...])
        ending.append(0x80)
        while ending.count % 64 != 56 { ending.append(0) }
        let bits = UInt64(bytes.count) &* 8
        for shift in 0..<8 { ending.append(UInt8(truncatingIfNeeded: bits >> (8 * UInt64(shift)))) }
        return ending
    }

    private static func mix(_ bytes: UnsafeRawBufferPointer, from block: Int, into state: inout [UInt32]) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for round in 0..<64 {
            let (mixed, word): (UInt32, Int) =
                switch round / 16 {
                case 0: (b & c | ~b & d, round)
                case 1: (d & b | ~d & c, (5 * round + 1) % 16)
                case 2: (b ^ c ^ d, (3 * round + 5) % 16)
                default: (c ^ (b | ~d), (7 * round) % 16)
                }
            let sum =
                a &+ mixed &+ constants[round]
                &+ UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: block + word * 4, as: UInt32.self))
            let shift = shifts[round / 16 * 4 + round % 4]
            (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
        }
        state[0] &+= a
        state[1] &+= b
        state[2] &+= c
        state[3] &+= d
    }
}
