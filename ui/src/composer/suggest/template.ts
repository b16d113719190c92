/** Addresses from templates, as RFC 6570 writes them, for values that are plain text. */

interface Form {
  first: string;
  between: string;
  named: boolean;
  /** Reserved letters stay as they are. */
  plain: boolean;
}

const SIMPLE: Form = { first: "", between: ",", named: false, plain: false };
const FORMS: Record<string, Form> = {
  "+": { ...SIMPLE, plain: true },
  "#": { ...SIMPLE, first: "#", plain: true },
  ".": { ...SIMPLE, first: ".", between: "." },
  "/": { ...SIMPLE, first: "/", between: "/" },
  ";": { first: ";", between: ";", named: true, plain: false },
  "?": { first: "?", between: "&", named: true, plain: false },
  "&": { first: "&", between: "&", named: true, plain: false },
};

export function expanded(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{([+#./;?&]?)([^{}]*)\}/g, (_, mark: string, names: string) => {
    const form = FORMS[mark] ?? SIMPLE;
    const parts = names.split(",").flatMap((written) => {
      const name = written.trim().replace(/(\*|:\d+)$/, "");
      const value = values[name] ?? "";
      if (!value) return [];
      const encoded = form.plain ? encodeURI(value) : encodeURIComponent(value);
      return [form.named ? `${name}=${encoded}` : encoded];
    });
    return parts.length > 0 ? form.first + parts.join(form.between) : "";
  });
}
