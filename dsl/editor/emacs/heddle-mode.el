;;; heddle-mode.el --- Descriptions of GPU platforms  -*- lexical-binding: t -*-

;; Package-Requires: ((emacs "26.3"))

;;; Commentary:

;; Highlighting and indentation of .heddle files.  With eglot (part of Emacs 29, package
;; elpa-eglot before), M-x eglot starts `heddle lsp'.

;;; Code:

(defconst heddle-declarations
  '("import" "component" "platform" "protocol" "interface" "link" "part" "enum" "request" "reply"
    "param" "let" "slot" "insert" "clock" "space" "store" "reads" "stat" "in" "out"
    "check" "map" "partition" "behaviour" "coherence" "if" "else" "for"))

(defconst heddle-options
  '("via" "over" "by" "latency" "depth" "width" "on" "at" "each" "interleave" "hashed"
    "optional" "pow2"))

(defconst heddle-types
  '("int" "bool" "bytes" "cycles" "addr" "bits" "any" "counter" "histogram"
    "string" "seconds" "u8" "u16" "u32" "u64" "i32" "i64"))

(defvar heddle-font-lock-keywords
  `((,(concat "\\_<\\(component\\|platform\\|protocol\\|interface\\|link\\|part\\|enum\\)"
              "\\s-+\\(\\(?:\\sw\\|\\s_\\)+\\)")
     (1 font-lock-keyword-face) (2 font-lock-type-face))
    ("\\_<\\(param\\|let\\|slot\\|clock\\|space\\)\\s-+\\(\\(?:\\sw\\|\\s_\\)+\\)"
     (1 font-lock-keyword-face) (2 font-lock-variable-name-face))
    (,(concat "^\\s-*\\(" (regexp-opt heddle-declarations) "\\)\\_>") 1 font-lock-keyword-face)
    (,(regexp-opt heddle-options 'symbols) . font-lock-builtin-face)
    (,(regexp-opt heddle-types 'symbols) . font-lock-type-face)
    (,(regexp-opt '("true" "false" "none") 'symbols) . font-lock-constant-face)
    (,(concat "\\_<[0-9][0-9_]*\\(?:\\.[0-9]+\\)?\\(?:[KMGT]i?B\\|B\\|cy\\|[kMG]?Hz\\|[munp]?s\\)?"
              "\\(?:/\\(?:s\\|cy\\)\\)?")
     . font-lock-constant-face)))

(defvar heddle-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?_ "_" table)
    table))

(defun heddle-indent-line ()
  "Indent a line by the braces around it."
  (interactive)
  (let* ((closes (save-excursion (back-to-indentation) (looking-at "}")))
         (depth (car (save-excursion (syntax-ppss (line-beginning-position)))))
         (column (* 4 (max 0 (if closes (1- depth) depth)))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to column)
      (save-excursion (indent-line-to column)))))

;;;###autoload
(define-derived-mode heddle-mode prog-mode "heddle"
  "Descriptions of GPU platforms."
  (setq-local comment-start "// ")
  (setq-local comment-end "")
  (setq-local indent-line-function #'heddle-indent-line)
  (setq-local indent-tabs-mode nil)
  (setq-local font-lock-defaults '(heddle-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.heddle\\'" . heddle-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(heddle-mode . ("heddle" "lsp"))))

(provide 'heddle-mode)
;;; heddle-mode.el ends here
