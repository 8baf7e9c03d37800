"""The tests know nothing of the simulator. They also run on a GPU."""

import unittest

from differences import Cuda, differences


class Differences(unittest.TestCase):
    def test_neighbors_in_one_block_and_across_blocks(self) -> None:
        cuda = Cuda()
        for count in (1, 255, 256, 257, 1000):
            squares = [float(i * i) for i in range(count)]
            expected = [0.0] + [float(2 * i - 1) for i in range(1, count)]
            self.assertEqual(differences(cuda, squares), expected, count)


if __name__ == "__main__":
    unittest.main()
