// The opcodes of pickle protocol 2 that torch.save writes.
#pragma once

#include <cstdint>

namespace ddp::detail {

enum class Opcode : std::uint8_t {
  Mark = '(',
  Stop = '.',
  Proto = 0x80,
  None = 'N',
  NewTrue = 0x88,
  NewFalse = 0x89,
  BinInt = 'J',
  BinInt1 = 'K',
  BinInt2 = 'M',
  Long1 = 0x8a,
  BinFloat = 'G',
  BinUnicode = 'X',
  EmptyTuple = ')',
  Tuple = 't',
  Tuple1 = 0x85,
  Tuple2 = 0x86,
  Tuple3 = 0x87,
  EmptyList = ']',
  Append = 'a',
  Appends = 'e',
  EmptyDict = '}',
  SetItem = 's',
  SetItems = 'u',
  BinPut = 'q',
  LongBinPut = 'r',
  BinGet = 'h',
  LongBinGet = 'j',
  Global = 'c',
  Reduce = 'R',
  Build = 'b',
  BinPersId = 'Q',
};

}  // namespace ddp::detail
