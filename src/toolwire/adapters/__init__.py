"""The ports on real drivers: files, databases, clocks; imported by `compose` alone, without any rule of the engine."""
