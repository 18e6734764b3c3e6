/**
 * How the page is built, tested, and served while it is worked on: then `TOOLWIRE_URL` says where a host runs and
 * `TOOLWIRE_KEY` is the owner's key, in place of a sign-in.
 */

import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const host = process.env.TOOLWIRE_URL ?? "http://127.0.0.1:8094";
const key = process.env.TOOLWIRE_KEY;
const proxied = { target: host, ws: true, changeOrigin: true, headers: key ? { authorization: `Bearer ${key}` } : {} };

export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2022",
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
  },
  server: { proxy: { "/api": proxied, "/sign-in": proxied, "/card-frames": { ...proxied, changeOrigin: false } } },
  test: { environment: "jsdom", include: ["src/**/*.test.{ts,tsx}"], restoreMocks: true },
});
