# Makes Doxygen read the comments of the public headers, which are written for people who read the
# headers: a comment documents the declarations that follow it up to the next empty line, one behind
# code what it stands beside.

function documented(line) {
  if (line ~ /^[ \t]*\/\//) {
    sub(/\/\//, "///", line)
    sub(/PyTorch:/, "<br>**PyTorch:**", line)
  } else if (line !~ /^}/ && line ~ /[;,{] +\/\/ /) {
    sub(/\/\/ /, "///< ", line)
  }
  return line
}

# A paragraph that closes what it opens, and says something first, is a group that shares its text.
function flush_paragraph(  i, code, group) {
  code = paragraph
  gsub(/\/\/[^\n]*/, "", code)
  group = lines > 2 && code ~ /[^ \n]/ && line_of[1] ~ /^ *\/\// && gsub(/{/, "", code) == gsub(/}/, "", code)
  if (group) print "///@{\n"
  for (i = 1; i <= lines; ++i) print documented(line_of[i])
  if (group) print "///@}"
  lines = 0
  paragraph = ""
}

FNR == 1 { print "/// @file" }
/^$/ { flush_paragraph(); print; next }
/^namespace|^}  \/\/ namespace|^ (public|private):|^#pragma/ { flush_paragraph(); print; next }
{ line_of[++lines] = $0; paragraph = paragraph $0 "\n" }
END { flush_paragraph() }
