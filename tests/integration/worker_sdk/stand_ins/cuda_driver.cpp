// Stands for libcuda.so.1 on a machine without a GPU: a driver that shows one.
extern "C" {
int cuInit(unsigned) {
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
}
