// A library that is there when a plug-in is linked and, like NCCL beside a torch wheel installed
// without its dependencies, is not found when it is loaded.
extern "C" int ddp_test_absent() {
  return 0;
}
