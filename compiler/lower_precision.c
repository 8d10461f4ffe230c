/* SPDX-License-Identifier: MIT
 *
 * Whether the devices of a job have the numeric format it trains in: a plan
 * priced at another format's rate would be of a job that cannot run.
 */
#include <string.h>

#include "compiler/job_names.h"
#include "compiler/lower.h"

static void list_precisions(const struct ir_device *device, struct text *out)
{
	bool first = true;

	for (int i = 0; i < IR_PRECISION_COUNT; i++) {
		if (!(device->peak_flops[i] > 0))
			continue;
		text_printf(out, "%s%s", first ? "" : ", ",
			    precision_name((enum ir_precision)i));
		first = false;
	}
}

/* A device that states no rate of 16 bit at all is taken at its word for what
 * the job asks: many data sheets give one number. */
static bool has_precision(const struct ir_device *device,
			  enum ir_precision precision)
{
	if (device->peak_flops[precision] > 0)
		return true;
	if (precision == IR_BF16)
		return !(device->peak_flops[IR_FP16] > 0);
	return precision != IR_FP8;
}

static bool check_device(struct lower *lower, const struct ir_device *device)
{
	const struct ast *field = lower_field(lower_body(lower->job),
					      "precision");
	enum ir_precision precision = lower->ir->job.precision;
	struct text list;

	if (!device->name)
		return true;
	text_init(&list, lower->arena);
	list_precisions(device, &list);
	/* One that is misspelt was reported. */
	if (!list.length && lower->diags->errors)
		return false;
	if (!list.length) {
		diag_error(lower->diags, E_JOB_VALUE, device->span,
			   "device '%s' states no rate of computing", device->name);
		diag_help(lower->diags, "add for instance: peak { bf16 = 989TFLOP/s }");
		return false;
	}
	if (has_precision(device, precision))
		return true;
	diag_error(lower->diags, E_JOB_VALUE,
		   field ? field->child[0]->span : lower->job->name_span,
		   "device '%s' has no rate for %s%s", device->name,
		   precision_name(precision),
		   field ? "" : ", which a job trains in if it does not say 'precision'");
	diag_note(lower->diags, device->span, "the device is this one");
	diag_help(lower->diags, "it has %s: write for instance 'precision = %.*s'",
		  list.at, (int)strcspn(list.at, ","), list.at);
	return false;
}

bool lower_precision(struct lower *lower)
{
	const struct ir_topology *topology = &lower->ir->topology;
	bool good = true;

	if (!topology->kind_count)
		return check_device(lower, &topology->device);
	for (uint32_t i = 0; good && i < topology->kind_count; i++)
		good = !topology->kind[i].only ||
		       check_device(lower, &topology->kind[i].only->topology.device);
	return good;
}
