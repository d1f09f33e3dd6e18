// The operations of the c10d store protocol as PyTorch 2.2 and newer speak it, and their operands.
//
// A request is one byte of operation and its operands, with nothing around it. A reply is bare
// operands: no header, no status. There are no error replies; the only error is a closed
// connection. All integers are little-endian. A string is a u64 length and that many bytes,
// whatever they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ddprun::protocol {

// The numbers are those on the wire. PING came with PyTorch 2.5, the queues with 2.8, LIST_KEYS
// with 2.10, BARRIER with 2.12; numbers are only ever appended.
enum class Operation : std::uint8_t {
  kValidate = 0,
  kSet,
  kCompareSet,
  kGet,
  kAdd,
  kCheck,
  kWait,
  kGetNumKeys,
  kDeleteKey,
  kAppend,
  kMultiGet,
  kMultiSet,
  kCancelWait,
  kPing,
  kQueuePush,
  kQueuePop,
  kQueueLen,
  kListKeys,
  kBarrier,
};

// Operand of the VALIDATE with which every connection begins.
inline constexpr std::uint32_t kMagic = 0x3C85F7CE;

// The one-byte replies: to CHECK, and to WAIT, BARRIER and CANCEL_WAIT.
inline constexpr char kReady = 0;
inline constexpr char kNotReady = 1;
inline constexpr char kStopWaiting = 0;
inline constexpr char kWaitCanceled = 1;

enum class Operand : char {
  kKey = 'k',      // string
  kValue = 'v',    // bytes
  kDesired = 'd',  // bytes, the second value of COMPARE_SET
  kNumber = 'n',   // i64
  kWord = 'w',     // u32
};

// The grammar of one operation: `operands` is a string of Operand letters. If `counted`, a u64
// count comes first and the operands are repeated that many times.
struct Grammar {
  std::string_view name;
  std::string_view operands;
  bool counted = false;
};

// The grammar of a byte taken as an operation, or nullptr when there is no such operation.
const Grammar* find_grammar(std::uint8_t operation);

// "SET", "COMPARE_SET", …: the name as PyTorch's sources have it.
std::string_view name(Operation operation);

}  // namespace ddprun::protocol
