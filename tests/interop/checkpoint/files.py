"""Files of torch.save and safetensors through the SDK and back: files.py PROGRAM."""
import collections
import json
import os
import pickle
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

import torch

PROGRAM = sys.argv.pop()

TYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
    torch.uint8, torch.bool, torch.complex64, torch.complex128, torch.uint16, torch.uint32, torch.uint64,
    torch.float8_e4m3fn, torch.float8_e5m2,
]
SAFETENSORS = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
    "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool,
    "U16": torch.uint16, "U32": torch.uint32, "U64": torch.uint64, "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2, "C64": torch.complex64,
}


def raw(tensor):
    """Its elements as bytes, whatever their type."""
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return bytes(plain.flatten().view(torch.uint8).tolist()) if plain.numel() else b""


def of_each_type():
    numbers = torch.tensor([[0.0, 1.0, 2.0], [3.5, -4.0, 100.0]])
    return {str(t): numbers.abs().to(t) if str(t).startswith("torch.uint") else numbers.to(t) for t in TYPES}


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.input = os.path.join(folder.name, "in.pt")
        self.output = os.path.join(folder.name, "out.pt")

    def run_program(self, what="copy"):
        return subprocess.run([PROGRAM, what, self.input, self.output], capture_output=True, text=True, timeout=60)

    def copied(self, value, **options):
        torch.save(value, self.input, **options)
        done = self.run_program()
        self.assertEqual(done.returncode, 0, done.stderr)
        return torch.load(self.output, weights_only=True)

    def refused(self, what="copy"):
        done = self.run_program(what)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(self.input + " cannot be read: ", done.stderr)
        self.assertFalse(os.path.exists(self.output))
        return done.stderr

    def assert_same(self, a, b):
        if isinstance(a, torch.Tensor):
            self.assertEqual((a.dtype, a.shape, a.stride()), (b.dtype, b.shape, b.stride()))
            self.assertEqual((a.storage_offset(), a.requires_grad), (b.storage_offset(), b.requires_grad))
            self.assertEqual(raw(a), raw(b))
        elif isinstance(a, dict):
            self.assertEqual(list(a), list(b))
            for key in a:
                self.assert_same(a[key], b[key])
        elif isinstance(a, (list, tuple)):
            self.assertEqual(len(a), len(b))
            self.assertEqual(isinstance(a, list), isinstance(b, list))
            for x, y in zip(a, b):
                self.assert_same(x, y)
        else:
            self.assertEqual(type(a), type(b))
            self.assertEqual(a, b)


class TorchFiles(Case):
    def test_every_type(self):
        value = of_each_type()
        self.assert_same(value, self.copied(value))

    def test_plain_values(self):
        value = {
            "int": [0, 1, 255, 256, 65535, 65536, -1, 2**31, -(2**63), 2**63 - 1],
            "float": (0.1, -0.0, 1e300, float("inf")),
            "text": ["", "é 😀", "x" * 300, "line\nline"],
            "empty": [[], (), {}],
            "deep": {"a": {"b": [{"c": (None, True, False)}]}},
            3: "integer key", -1: 2,
        }
        self.assert_same(value, self.copied(value))

    def test_ordered_dict_size_and_device_become_plain(self):
        value = collections.OrderedDict(z=1, a=2, size=torch.Size([2, 3]), device=torch.device("cuda:1"))
        value["type"] = torch.float32
        copy = self.copied(value)
        self.assertEqual(list(copy.items()),
                         [("z", 1), ("a", 2), ("size", (2, 3)), ("device", "cuda:1"), ("type", "torch.float32")])

    def test_views_stay_views(self):
        base = torch.arange(24.0).reshape(4, 6)
        value = {"base": base, "column": base[:, 2], "turned": base.t(), "part": base[1:3, ::2],
                 "wide": torch.ones(1).expand(1000), "empty": torch.empty(0, 3), "scalar": torch.tensor(5)}
        copy = self.copied(value)
        self.assert_same(value, copy)
        copy["base"][1, 2] = -1
        self.assertEqual(copy["column"][1], -1)
        self.assertEqual(copy["part"][0, 1], -1)

    def test_parameters_and_lazy_bits(self):
        complex_numbers = torch.tensor([1 + 2j, 3 - 4j])
        value = {"parameter": torch.nn.Parameter(torch.ones(2)), "frozen": torch.nn.Parameter(torch.ones(2), False),
                 "conj": complex_numbers.conj(), "neg": complex_numbers.clone().conj().imag}
        copy = self.copied(value)
        self.assertTrue(copy["parameter"].requires_grad)
        self.assertFalse(copy["frozen"].requires_grad)
        self.assertEqual(copy["conj"].tolist(), [1 - 2j, 3 + 4j])
        self.assertEqual(copy["neg"].tolist(), [-2, 4])

    def test_a_whole_model(self):
        model = torch.nn.TransformerEncoderLayer(16, 2, 32)
        copy = self.copied(model.state_dict())
        self.assert_same(dict(model.state_dict()), copy)
        model.load_state_dict(copy)

    def test_without_check_sums(self):
        torch.serialization.set_crc32_options(False)
        self.addCleanup(torch.serialization.set_crc32_options, True)
        value = {"a": torch.arange(100)}
        self.assert_same(value, self.copied(value))

    def test_other_tools_read_ours(self):
        self.copied({"a": torch.ones(3)})
        with zipfile.ZipFile(self.output) as archive:
            self.assertIsNone(archive.testzip())
            self.assertIn("archive/data/0", archive.namelist())
        self.assertTrue(torch.load(self.output, weights_only=True, mmap=True)["a"].eq(1).all())


class Exploit:
    def __reduce__(self):
        return os.system, ("echo exploited",)


class Hostile(Case):
    def write_archive(self, pkl, **entries):
        with zipfile.ZipFile(self.input, "w") as archive:
            archive.writestr("x/data.pkl", pkl)
            for name, data in entries.items():
                archive.writestr("x/" + name, data)

    def test_a_pickle_that_calls_something(self):
        self.write_archive(pickle.dumps({"a": Exploit()}, protocol=2))
        done = self.refused()
        self.assertIn("system', which a checkpoint of weights has no use for", done)
        self.assertNotIn("exploited", done)

    def test_a_whole_module(self):
        torch.save(torch.nn.Linear(2, 2), self.input)
        self.assertIn("'torch.nn.modules.linear.Linear'", self.refused())

    def test_sparse_tensors(self):
        torch.save(torch.ones(2, 2).to_sparse(), self.input)
        self.assertIn("'torch._utils._rebuild_sparse_tensor'", self.refused())

    def test_other_formats(self):
        torch.save({"a": torch.ones(1)}, self.input, _use_new_zipfile_serialization=False)
        self.assertIn("before 1.6", self.refused())
        torch.jit.save(torch.jit.script(torch.nn.Linear(1, 1)), self.input)
        self.assertIn("TorchScript", self.refused())
        torch.save({"a": 1}, self.input, pickle_protocol=4)
        self.assertIn("protocol 4, expected 2", self.refused())

    def test_packed_again(self):
        torch.save({"a": torch.ones(1000)}, self.input)
        with zipfile.ZipFile(self.input) as archive:
            entries = [(name, archive.read(name)) for name in archive.namelist()]
        with zipfile.ZipFile(self.input, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in entries:
                archive.writestr(name, data)
        self.assertIn("is compressed", self.refused())

    def test_cut_anywhere(self):
        torch.save({"a": torch.ones(100)}, self.input)
        with open(self.input, "rb") as file:
            whole = file.read()
        for size in (0, 1, 30, len(whole) // 2, len(whole) - 1):
            with open(self.input, "wb") as file:
                file.write(whole[:size])
            self.refused()

    def test_no_file(self):
        done = self.run_program()
        self.assertEqual(done.returncode, 3)
        self.assertIn(self.input + " cannot be read: No such file or directory", done.stderr)


def write_safetensors(path, tensors, metadata=None):
    """As the package safetensors does, from the description of the format."""
    names = {dtype: name for name, dtype in SAFETENSORS.items()}
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for key, tensor in tensors.items():
        begin = len(data)
        data += raw(tensor)
        header[key] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    with open(path, "rb") as file:
        content = file.read()
    (size,) = struct.unpack("<Q", content[:8])
    assert size % 8 == 0
    header = json.loads(content[8 : 8 + size])
    metadata = header.pop("__metadata__", None)
    tensors, end = {}, 0
    for key, each in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, last = each["data_offsets"]
        assert begin == end, "a gap"
        end = last
        numbers = torch.tensor(list(content[8 + size + begin : 8 + size + last]), dtype=torch.uint8)
        tensors[key] = numbers.view(SAFETENSORS[each["dtype"]]).reshape(each["shape"])
    assert end == len(content) - 8 - size
    return tensors, metadata


class SafetensorsFiles(Case):
    def test_every_type_both_ways(self):
        tensors = {key: tensor for key, tensor in of_each_type().items() if tensor.dtype in SAFETENSORS.values()}
        tensors |= {"scalar": torch.tensor(1.5), "empty": torch.empty(0, 4), 'é "quoted" \\': torch.ones(2)}
        write_safetensors(self.input, tensors, {"format": "pt"})
        done = self.run_program("copy_safetensors")
        self.assertEqual(done.returncode, 0, done.stderr)
        copy, metadata = read_safetensors(self.output)
        self.assertEqual(metadata, {"format": "pt"})
        self.assertEqual(set(copy), set(tensors))
        for key in tensors:
            self.assertEqual((copy[key].dtype, copy[key].shape), (tensors[key].dtype, tensors[key].shape))
            self.assertEqual(raw(copy[key]), raw(tensors[key]), key)

    def test_each_reads_only_its_own(self):
        write_safetensors(self.input, {"a": torch.ones(2)})
        self.assertIn("it looks like a safetensors file", self.refused())
        torch.save({"a": torch.ones(2)}, self.input)
        self.assertIn("expected a safetensors file", self.refused("copy_safetensors"))

    @unittest.skipUnless(__import__("importlib").util.find_spec("safetensors"), "needs the package safetensors")
    def test_the_package_agrees(self):
        from safetensors.torch import load_file, save_file

        tensors = {"a": torch.randn(3, 4), "b": torch.arange(5), "c": torch.ones(2).bfloat16()}
        save_file(tensors, self.input, {"format": "pt"})
        self.assertEqual(self.run_program("copy_safetensors").returncode, 0)
        copy = load_file(self.output)
        for key in tensors:
            self.assertTrue(torch.equal(copy[key], tensors[key]))


unittest.main(verbosity=2)
