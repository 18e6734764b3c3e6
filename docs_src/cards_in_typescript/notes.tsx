import { useTool } from "@toolwire/card-sdk/react";
import { useState } from "react";

export function Notes() {
  const [notes, setNotes] = useState("");
  useTool("read_notes", () => notes || "(no notes yet)"); // always the latest `notes`
  return <textarea value={notes} onChange={(event) => setNotes(event.target.value)} />;
}
