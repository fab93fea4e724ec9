// A parsed template. Immutable; one program may be run by many threads at once.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/jinja/value.h"

namespace teapot::text::jinja {

struct FilterEntry;
struct TestEntry;

using NameId = uint32_t;  // of a variable: its place in Program::names

enum class Operator : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,
  kNot,
  kNegate,
  kPlus,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kNotIn,
};

// What `operands` hold stands behind each kind.
enum class ExprKind : uint8_t {
  kLiteral,         // literal
  kName,            // variable; as a target too
  kTuple,           // items; as a target too
  kList,            // items
  kDict,            // key, value, key, value, ...
  kUnary,           // [op] x
  kBinary,          // a [op] b
  kAnd,             // a, b
  kOr,              // a, b
  kCompare,         // a, b, c, ... with comparisons between them
  kConcat,          // texts joined by ~
  kConditional,     // then, test, else (or null)
  kAttribute,       // object, with the attribute's name in text
  kItem,            // object, index
  kSlice,           // object, start, stop, step (each of the three may be null)
  kCall,            // callee, positional arguments...
  kFilter,          // input (null: the text of a block), positional arguments...; filter, or text if there is no such filter
  kTest,            // input, positional arguments...; test, or text
  kNamespaceField,  // only as a target: variable.text
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct KeywordExpr {
  std::string_view name;
  ExprPtr value;
};

struct Expr {
  ExprKind kind;
  Operator op = Operator::kAdd;
  uint32_t offset = 0;  // in the source, for errors
  uint32_t depth = 1;   // of the tree below, which evaluation descends recursively
  NameId variable = 0;
  std::string_view text;
  Value literal;
  const FilterEntry* filter = nullptr;
  const TestEntry* test = nullptr;
  std::vector<Operator> comparisons;
  std::vector<ExprPtr> operands;
  std::vector<KeywordExpr> keywords;
  ExprPtr spread;          // *args
  ExprPtr keyword_spread;  // **kwargs
};

struct Stmt;
using Body = std::vector<Stmt>;

struct Parameter {
  NameId variable;
  std::string_view name;
  ExprPtr fallback;  // or null
};

struct MacroDefinition {
  std::string_view name;
  std::vector<Parameter> parameters;
  Body body;
  std::vector<NameId> unassigned;
  // Whether the body speaks of them: otherwise surplus arguments are an error.
  bool uses_caller = false;
  bool uses_varargs = false;
  bool uses_kwargs = false;
};

enum class StmtKind : uint8_t {
  kText,      // text
  kOutput,    // value
  kIf,        // branches
  kFor,       // target, value (what to walk), filter; body, else_body
  kSet,       // target, value
  kSetBlock,  // target, filter (or null); body
  kMacro,     // variable, macro
  kCall,      // value (the call), macro (the caller's parameters and body)
  kFilter,    // filter; body
  kWith,      // pairs of target and value in branches; body
  kScope,     // body in a scope of its own: {% generation %}, {% block %}
  kBreak,
  kContinue,
  kRefused,  // text: why it fails when it is reached
};

struct Branch {
  ExprPtr first;  // kIf: the condition, null for else; kWith: the target
  ExprPtr value;  // kWith
  Body body;      // kIf
};

struct Stmt {
  StmtKind kind;
  uint32_t offset = 0;
  bool recursive = false;  // kFor
  bool sees_outer = true;  // kScope: false for {% block %}, whose names are looked up anew
  NameId variable = 0;
  std::string_view text{};
  ExprPtr target{};
  ExprPtr value{};
  ExprPtr filter{};
  std::vector<Branch> branches{};
  Body body{};
  Body else_body{};
  std::vector<NameId> unassigned{};  // what the scope of the body, of the else body, hides: unassigned.h
  std::vector<NameId> else_unassigned{};
  std::unique_ptr<MacroDefinition> macro{};
};

// Owns all text that the tree's string_views refer to.
struct Program {
  std::string source;
  std::deque<std::string> texts;        // unquoted texts
  std::vector<std::string_view> names;  // of variables, by NameId
  std::unordered_map<std::string_view, NameId> name_ids;
  Body body;
  std::vector<NameId> unassigned;
};

}  // namespace teapot::text::jinja
