/** The owner's files: uploading, downloading and deleting them, and how much room they take. */

import { Download, FileText, Trash2, Upload } from "lucide-react";
import { useRef, useState } from "react";
import { ApiError, api, ask, messageOf, type Schemas } from "../api/client.ts";
import { useAsked } from "../api/useAsked.ts";
import { useText } from "../i18n/text.ts";
import { AskedView } from "../ui/AskedView.tsx";
import { Button, IconButton } from "../ui/Button.tsx";
import { ConfirmDialog } from "../ui/ConfirmDialog.tsx";
import { Empty } from "../ui/Empty.tsx";
import { type Column, Table } from "../ui/Table.tsx";
import { showToast } from "../ui/toasts.ts";
import { When } from "../ui/When.tsx";
import { PageFrame } from "./PageFrame.tsx";
import { shownSize } from "./size.ts";

type Uploaded = Schemas["UploadedFile"];
type Page = Schemas["FilePage"];

const SHOWN = 1000;

async function readFiles(): Promise<Page> {
  return ask(api.GET("/api/v1/files", { params: { query: { limit: SHOWN } } }));
}

export function FilesPage() {
  const text = useText();
  const asked = useAsked("files", readFiles);
  const [removing, setRemoving] = useState<Uploaded>();
  return (
    <PageFrame
      title={text("gateway.files.title")}
      text={text("gateway.files.text")}
      actions={<UploadButton onUploaded={asked.again} />}
    >
      <AskedView asked={asked}>
        {(page) =>
          page.files.length === 0 ? (
            <Empty icon={FileText} title={text("gateway.files.none")}>
              {text("gateway.files.none_text")}
            </Empty>
          ) : (
            <FileTable page={page} onRemove={setRemoving} />
          )
        }
      </AskedView>
      {removing ? (
        <ConfirmDialog
          title={text("gateway.files.remove")}
          message={text("gateway.files.remove_text", { name: removing.filename })}
          confirm={text("gateway.files.remove")}
          onClose={() => setRemoving(undefined)}
          onConfirm={async () => {
            await ask(api.DELETE("/api/v1/files/{file}", { params: { path: { file: removing.file_id } } }));
            await asked.again();
          }}
        />
      ) : null}
    </PageFrame>
  );
}

function FileTable({ page, onRemove }: { readonly page: Page; readonly onRemove: (file: Uploaded) => void }) {
  const text = useText();
  const columns: readonly Column<Uploaded>[] = [
    { id: "name", head: text("gateway.files.name"), cell: (file) => file.filename },
    { id: "type", head: text("gateway.files.type"), cell: (file) => file.content_type },
    { id: "size", head: text("gateway.files.size"), cell: (file) => shownSize(file.size) },
    { id: "id", head: text("gateway.files.id"), cell: (file) => <code>{file.file_id}</code> },
    { id: "until", head: text("gateway.files.until"), cell: (file) => <When at={file.expires_at} /> },
    {
      id: "actions",
      head: "",
      end: true,
      cell: (file) => (
        <span className="page-buttons">
          <IconButton
            small
            icon={Download}
            label={`${text("gateway.files.download")}: ${file.filename}`}
            onClick={() => void download(file)}
          />
          <IconButton
            small
            icon={Trash2}
            label={`${text("gateway.files.remove")}: ${file.filename}`}
            onClick={() => onRemove(file)}
          />
        </span>
      ),
    },
  ];
  const values = { used: shownSize(page.stored_bytes), limit: shownSize(page.limit_bytes) };
  return (
    <section className="page-section">
      <p className="page-text">{text("gateway.files.used", values)}</p>
      <Table
        label={text("gateway.files.title")}
        columns={columns}
        rows={[...page.files].reverse()}
        keyOf={(file) => file.file_id}
      />
    </section>
  );
}

async function download(file: Uploaded): Promise<void> {
  try {
    const found = await ask(api.GET("/api/v1/files/{file}", { params: { path: { file: file.file_id } } }));
    const link = document.createElement("a");
    link.href = found.download_url;
    link.download = found.filename;
    link.click();
  } catch (error) {
    showToast({ tone: "bad", text: messageOf(error) });
  }
}

function UploadButton({ onUploaded }: { readonly onUploaded: () => Promise<void> }) {
  const text = useText();
  const input = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const take = async (file: File): Promise<void> => {
    setBusy(true);
    try {
      await upload(file, (limit) => text("gateway.files.too_large", { name: file.name, limit: shownSize(limit) }));
      showToast({ tone: "ok", text: text("gateway.files.uploaded", { name: file.name }) });
      await onUploaded();
    } catch (error) {
      showToast({ tone: "bad", text: messageOf(error) });
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        className="visually-hidden"
        tabIndex={-1}
        aria-hidden
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          event.target.value = "";
          if (file) void take(file);
        }}
      />
      <Button tone="primary" icon={Upload} busy={busy} onClick={() => input.current?.click()}>
        {text("gateway.files.upload")}
      </Button>
    </>
  );
}

async function upload(file: File, tooLarge: (limit: number) => string): Promise<void> {
  const content_type = file.type || "application/octet-stream";
  const announced = await ask(
    api.POST("/api/v1/files/presign-upload", { body: { filename: file.name, content_type } }),
  );
  if (file.size > announced.max_bytes) throw new ApiError("payload_too_large", tooLarge(announced.max_bytes));
  const sent = await fetch(announced.upload_url, {
    method: "PUT",
    headers: { "content-type": announced.content_type },
    body: file,
  });
  if (!sent.ok) {
    const told = (await sent.json()) as { readonly error?: { readonly code: string; readonly message: string } };
    throw new ApiError(told.error?.code ?? "unexpected", told.error?.message ?? sent.statusText, sent.status);
  }
}
