;;; nest-mode.el --- Specs of the training of large models -*- lexical-binding: t -*-

;; Made by editors/generate.sh from the tables of nestc; not changed by hand.
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Colours and indents .nest files.  Put this directory on your load-path and
;; (require 'nest-mode) into your init file.

;;; Code:

(defconst nest-mode-font-lock
  (list
   (cons (regexp-opt '("and" "as" "avoid" "by" "else" "expect" "extern" "fn" "for" "if" "import" "in" "let" "minimize" "nest" "not" "or" "param" "prefer" "require" "return" "split" "step" "then" "weight" "when" "with" "within") 'symbols) 'font-lock-keyword-face)
   (cons (concat (regexp-opt '("device" "job" "level" "link" "model" "node" "plan" "switch" "template" "test" "topology") 'symbols) "[ \t]+\\([a-z_]\\)") '(1 font-lock-keyword-face))
   (cons (concat (regexp-opt '("children" "layers" "peak" "place" "plan" "require" "search") 'symbols) "[ \t]*{") '(1 font-lock-keyword-face))
   (cons (concat (regexp-opt '("attention" "auxiliary_loss" "cross_entropy" "custom" "dropout" "embedding" "experts" "gelu" "layernorm" "linear" "lm_head" "relu" "rmsnorm" "router" "silu" "abs" "ceil" "count" "floor" "log2" "max" "min" "round" "sqrt" "sum") 'symbols) "(") '(1 font-lock-function-name-face))
   (cons (regexp-opt '("adafactor" "adam" "adam_8bit" "alltoall" "bf16" "blockwise" "core_attn" "deepep" "distributed" "duplicated" "fp16" "fp32" "fp8" "full" "gelu" "gpipe" "interleaved" "layernorm" "megatron" "mla_up_proj" "mlp" "moe" "moe_act" "muon" "none" "off" "on" "one_f_one_b" "relu" "ring" "rmsnorm" "selective" "sgd" "sgd_momentum" "shared_experts" "silu" "switch" "torus" "true" "false") 'symbols) 'font-lock-constant-face)
   (cons (regexp-opt '("bubble" "context" "cost" "data" "devices" "energy" "expert" "expert_tensor" "memory" "micro_batch" "micro_batches" "pipeline" "recompute" "recompute_layers" "schedule" "sequence" "shard_level" "stage" "stages" "tensor" "time" "virtual" "zero") 'symbols) 'font-lock-variable-name-face)
   (cons (concat ":[ \t]*" (regexp-opt '("bandwidth" "bool" "energy" "float" "flops" "int" "money" "power" "price" "ratio" "size" "string" "time" "work") 'symbols)) '(1 font-lock-type-face)))
  "What is coloured in a spec.")

(defvar nest-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?_ "_" table)
    table)
  "Comments, strings and names of a spec.")

(defun nest-mode-indent-line ()
  "Indent the line by two blanks for each bracket that is open before it."
  (let ((depth (save-excursion
                 (beginning-of-line)
                 (skip-chars-forward " \t")
                 (- (car (syntax-ppss (line-beginning-position)))
                    (if (looking-at "[]})]") 1 0)))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to (* 2 (max 0 depth)))
      (save-excursion (indent-line-to (* 2 (max 0 depth)))))))

;;;###autoload
(define-derived-mode nest-mode prog-mode "nest"
  "Major mode for specs of nestc."
  (setq-local font-lock-defaults '(nest-mode-font-lock))
  (setq-local comment-start "# ")
  (setq-local comment-start-skip "#+[ \t]*")
  (setq-local indent-line-function #'nest-mode-indent-line)
  (setq-local indent-tabs-mode nil))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.nest\\'" . nest-mode))

(provide 'nest-mode)
;;; nest-mode.el ends here
