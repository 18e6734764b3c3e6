import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const at = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

// Tests import the package by its published name, as authors do, and get its sources.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^@toolwire\/card-sdk$/, replacement: at("src/index.ts") },
      { find: /^@toolwire\/card-sdk\/(react|testing|headless)$/, replacement: at("src/$1") },
    ],
  },
  test: { include: ["tests/**/*.test.{ts,tsx}"], restoreMocks: true },
});
