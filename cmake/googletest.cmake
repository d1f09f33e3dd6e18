find_package(GTest QUIET)
if(NOT GTest_FOUND)
  message(FATAL_ERROR "GoogleTest was not found (Debian: apt install libgtest-dev libgmock-dev). "
                      "Configure with -DDDPRUN_TESTS=OFF to build without tests.")
endif()
include(GoogleTest)

# ddprun_test(NAME SOURCES … LINK … [LABEL unit] [TIMEOUT 30] [ENV K=V] [RUN_SERIAL] [AS_ONE]): one test program; every
# case of it is a CTest of its own with a hard time limit, and with one more variable in its environment if wanted.
# RUN_SERIAL: no other test runs beside it. AS_ONE: all cases are one CTest, because what they share is expensive.
function(ddprun_test name)
  cmake_parse_arguments(TEST "RUN_SERIAL;AS_ONE" "LABEL;TIMEOUT" "SOURCES;LINK;ENV" ${ARGN})
  if(NOT TEST_LABEL)
    set(TEST_LABEL unit)
  endif()
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 30)
  endif()
  add_executable(${name}_test ${TEST_SOURCES})
  set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name}_test PRIVATE ${TEST_LINK} GTest::gmock GTest::gtest_main ddprun_warnings)
  if(TEST_AS_ONE)
    add_test(NAME ${TEST_LABEL}.${name} COMMAND ${name}_test)
    set_tests_properties(${TEST_LABEL}.${name} PROPERTIES LABELS ${TEST_LABEL} TIMEOUT ${TEST_TIMEOUT}
                         ENVIRONMENT "${TEST_ENV}" RUN_SERIAL ${TEST_RUN_SERIAL} SKIP_REGULAR_EXPRESSION "  SKIPPED \\]")
    return()
  endif()
  gtest_discover_tests(${name}_test TEST_PREFIX ${TEST_LABEL}.${name}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS ${TEST_LABEL} TIMEOUT ${TEST_TIMEOUT} ENVIRONMENT "${TEST_ENV}"
                                  RUN_SERIAL ${TEST_RUN_SERIAL})
endfunction()
